package headwater;

import java.util.ArrayList;
import java.util.List;

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;

/** A deserialized plan: its leaves are empty until `withLeaves` replaces them. */
public final class RestoredPlan {
  private static final long STACK = 256L << 20;
  private final byte[] bytes;
  private final List functions;
  private final PlanFilter filter;
  private LogicalPlan plan;
  private Throwable trouble;

  /** `function` is a Python function of this session, for its surroundings; null if Python is not allowed. */
  public RestoredPlan(String text, Object function) throws Exception {
    bytes = PlanStream.decode(text);
    functions = new ArrayList();
    if (function != null) {
      functions.add(function);
    }
    filter = new PlanFilter(Boolean.valueOf(function != null));
  }

  public String digest() throws Exception {
    return PlanStream.digest(bytes);
  }

  /** Why it cannot be read, or null. */
  public String deserialize() throws Exception {
    DeepStack.run(new ReadTask(this), STACK);
    if (trouble == null) {
      return null;
    }
    return filter.refusalReason() == null ? String.valueOf(trouble) : filter.refusalReason();
  }

  public List leaves() {
    return PlanLeaves.leaves(plan);
  }

  /** The plan with these scans instead of its leaves; null keeps a leaf. */
  public LogicalPlan withLeaves(List scans) {
    List leaves = leaves();
    List newLeaves = new ArrayList();
    for (int i = 0; i < leaves.size(); i++) {
      LogicalPlan leaf = (LogicalPlan) leaves.get(i);
      newLeaves.add(scans.get(i) == null ? leaf : PlanLeaves.withNames((LogicalPlan) scans.get(i), leaf));
    }
    return PlanLeaves.withLeaves(plan, newLeaves);
  }

  private static final class ReadTask implements Runnable {
    private final RestoredPlan restored;

    public ReadTask(RestoredPlan restored) {
      this.restored = restored;
    }

    public void run() {
      try {
        restored.plan = (LogicalPlan) PlanStream.read(restored.bytes, restored.filter, restored.functions);
      } catch (Throwable trouble) {
        restored.trouble = trouble;
      }
    }
  }
}
