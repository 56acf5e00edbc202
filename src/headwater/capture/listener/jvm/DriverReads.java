package headwater;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;

import org.apache.spark.sql.execution.QueryExecution;

/**
 * What the program has read into the driver: the leaves of the plans whose rows it collected. A frame that it makes
 * afterwards may hold such rows, and no plan shows that. Only leaves are kept, not the plans, and the newest only.
 *
 * Janino, the compiler that Spark brings, compiles this file: it supports no generics and no lambdas.
 */
public final class DriverReads {
  private static final int MAX_LEAVES = 64;
  private static final int MAX_EXECUTIONS = 1000;
  private static final String OWN_WORK = "headwater-";
  private static final Set ACTIONS = new HashSet(Arrays.asList(new Object[] {
    "collect", "collectAsArrowToPython", "collectAsList", "collectToPython", "first", "head", "tail", "tailToPython",
    "take", "toLocalIterator", "toPythonIterator"
  }));
  private final ArrayDeque leaves = new ArrayDeque();
  private final Set ownExecutions = new HashSet(); // running ones of Headwater itself

  public synchronized void executionStarted(long execution, List jobTags) {
    for (int i = 0; i < jobTags.size(); i++) {
      if (String.valueOf(jobTags.get(i)).endsWith("-work") && String.valueOf(jobTags.get(i)).startsWith(OWN_WORK)
          && ownExecutions.size() < MAX_EXECUTIONS) {
        ownExecutions.add(Long.valueOf(execution));
      }
    }
  }

  public synchronized void executionEnded(long execution, Object action, QueryExecution query) {
    if (ownExecutions.remove(Long.valueOf(execution)) || query == null || !ACTIONS.contains(action)) {
      return;
    }
    List ended = PlanFacts.elements(query.analyzed().collectLeaves());
    for (int i = 0; i < ended.size(); i++) {
      if (!contains(ended.get(i))) {
        leaves.addLast(ended.get(i));
      }
    }
    while (leaves.size() > MAX_LEAVES) {
      leaves.removeFirst();
    }
  }

  /** The leaves, as the children of a node that PlanFacts reads. */
  public synchronized List children() {
    return new ArrayList(leaves);
  }

  public synchronized boolean isEmpty() {
    return leaves.isEmpty();
  }

  public synchronized void clear() {
    leaves.clear();
  }

  private boolean contains(Object leaf) {
    IdentityHashMap known = new IdentityHashMap();
    Object[] all = leaves.toArray();
    for (int i = 0; i < all.length; i++) {
      known.put(all[i], all[i]);
    }
    return known.containsKey(leaf);
  }
}
