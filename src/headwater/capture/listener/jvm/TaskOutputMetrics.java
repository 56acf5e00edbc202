package headwater;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Records and bytes that the tasks of an execution wrote, from Spark's task metrics: for writers that report no number
 * in the plan (JDBC, Delta, the file sink of a stream).
 *
 * Such a writer may run its tasks as an execution of their own, of which Spark states only the root execution. They
 * count for the running write below that root; if there are two, they count for neither.
 *
 * Janino, the compiler that Spark brings, compiles this file: it supports no generics and no lambdas.
 */
public final class TaskOutputMetrics {
  private static final int MAX_EXECUTIONS = 1000;
  private static final Long NO_WRITE = Long.valueOf(-1);
  private final Map writes = new LinkedHashMap(); // of running writes: from the execution to its root
  private final Map owners = new LinkedHashMap(); // of running executions: to the write they count for
  private final Map stages = new LinkedHashMap(); // of running stages: to the write they count for
  private final Map counts = new LinkedHashMap(); // by write: records, bytes

  public void executionStarted(long execution, Object root, boolean writes) {
    Long id = Long.valueOf(execution);
    if (owners.size() >= MAX_EXECUTIONS) {
      return;
    }
    if (writes) {
      this.writes.put(id, root == null ? id : root);
      counts.put(id, new long[2]);
    }
    owners.put(id, writes ? id : writeBelow(root));
  }

  private Object writeBelow(Object root) {
    List candidates = new ArrayList();
    Object[] writeIds = writes.keySet().toArray();
    for (int i = 0; i < writeIds.length; i++) {
      if (!writeIds[i].equals(root) && writes.get(writeIds[i]).equals(root)) {
        candidates.add(writeIds[i]);
      }
    }
    if (candidates.isEmpty()) {
      return writes.containsKey(root) ? root : NO_WRITE;
    }
    return candidates.size() == 1 ? candidates.get(0) : NO_WRITE;
  }

  public void jobStarted(String execution, List stageIds) {
    Object owner = owners.get(Long.valueOf(execution));
    for (int i = 0; owner != null && i < stageIds.size() && stages.size() < MAX_EXECUTIONS * MAX_EXECUTIONS; i++) {
      stages.put(stageIds.get(i), owner);
    }
  }

  public void stageEnded(int stage, long records, long bytes) {
    Object owner = stages.remove(Integer.valueOf(stage));
    long[] count = owner == null ? null : (long[]) counts.get(owner);
    if (count != null) {
      count[0] += records;
      count[1] += bytes;
    }
  }

  /** Records and bytes that the execution's tasks wrote; an empty list if they were not counted. */
  public List executionEnded(long execution) {
    Long id = Long.valueOf(execution);
    owners.remove(id);
    Object root = writes.remove(id);
    if (root == null) {
      return new ArrayList();
    }
    stages.values().removeAll(Collections.singleton(id)); // those that Spark skipped
    long[] count = (long[]) counts.remove(id);
    long[] rootCount = (long[]) counts.get(root); // of the write that this one is a step of
    for (int i = 0; rootCount != null && i < count.length; i++) {
      rootCount[i] += count[i];
    }
    List output = new ArrayList();
    for (int i = 0; i < count.length; i++) {
      output.add(count[i] > 0 ? (Object) Long.valueOf(count[i]) : null);
    }
    return output;
  }
}
