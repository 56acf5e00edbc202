package headwater;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * How many records the tasks of an execution wrote, by Spark's account of its tasks: for writers that leave no number in
 * the plan (JDBC, Delta, the file sink of a stream).
 *
 * Such a writer may run its tasks as an execution of their own, of which Spark says under which root it ran and no more.
 * They count for the write under way below that root; where two are, they count for neither.
 */
public final class Records {
  private static final int MOST = 1000;
  private static final Long NOBODY = Long.valueOf(-1);
  private final Map writes = new LinkedHashMap(); // under way: from the execution to its root
  private final Map owners = new LinkedHashMap(); // under way: from the execution to the write it counts for
  private final Map stages = new LinkedHashMap(); // under way: from the stage to the write it counts for
  private final Map counts = new LinkedHashMap(); // by write: records, bytes

  public void began(long execution, Object root, boolean writes) {
    Long id = Long.valueOf(execution);
    if (owners.size() >= MOST) {
      return;
    }
    if (writes) {
      this.writes.put(id, root == null ? id : root);
      counts.put(id, new long[2]);
    }
    owners.put(id, writes ? id : ownerBelow(root));
  }

  private Object ownerBelow(Object root) {
    List below = new ArrayList();
    Object[] known = writes.keySet().toArray();
    for (int i = 0; i < known.length; i++) {
      if (!known[i].equals(root) && writes.get(known[i]).equals(root)) {
        below.add(known[i]);
      }
    }
    if (below.isEmpty()) {
      return writes.containsKey(root) ? root : NOBODY;
    }
    return below.size() == 1 ? below.get(0) : NOBODY;
  }

  public void willRun(String execution, List stageIds) {
    Object owner = owners.get(Long.valueOf(execution));
    for (int i = 0; owner != null && i < stageIds.size() && stages.size() < MOST * MOST; i++) {
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

  /** Records and bytes that the execution's tasks wrote; nothing where nobody counted. */
  public List ended(long execution) {
    Long id = Long.valueOf(execution);
    owners.remove(id);
    Object root = writes.remove(id);
    if (root == null) {
      return new ArrayList();
    }
    stages.values().removeAll(Collections.singleton(id)); // those that Spark skipped
    long[] count = (long[]) counts.remove(id);
    long[] whole = (long[]) counts.get(root); // of the write that this one was a step of
    for (int i = 0; whole != null && i < count.length; i++) {
      whole[i] += count[i];
    }
    List said = new ArrayList();
    for (int i = 0; i < count.length; i++) {
      said.add(count[i] > 0 ? (Object) Long.valueOf(count[i]) : null);
    }
    return said;
  }
}
