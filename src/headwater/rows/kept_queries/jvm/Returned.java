package headwater;

import java.util.ArrayList;
import java.util.List;

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;

/** A kept plan read again: its leaves are empty, until they are put in. */
public final class Returned {
  private static final long STACK = 256L << 20;
  private final byte[] bytes;
  private final List functions;
  private final Allowed filter;
  private LogicalPlan plan;
  private Throwable trouble;

  /** `function` is a Python function of this session, for its surroundings; null where Python is not allowed. */
  public Returned(String text, Object function) throws Exception {
    bytes = Packed.decode(text);
    functions = new ArrayList();
    if (function != null) {
      functions.add(function);
    }
    filter = new Allowed(Boolean.valueOf(function != null));
  }

  public String digest() throws Exception {
    return Packed.digest(bytes);
  }

  /** Why it cannot be read, or null. */
  public String read() throws Exception {
    Deep.run(new Reading(this), STACK);
    if (trouble == null) {
      return null;
    }
    return filter.refused() == null ? String.valueOf(trouble) : filter.refused();
  }

  public List leaves() {
    return Holes.leaves(plan);
  }

  /** With what was read again in place of the leaves; null leaves one as it is. */
  public LogicalPlan filled(List read) {
    List leaves = leaves();
    List put = new ArrayList();
    for (int i = 0; i < leaves.size(); i++) {
      LogicalPlan leaf = (LogicalPlan) leaves.get(i);
      put.add(read.get(i) == null ? leaf : Holes.named((LogicalPlan) read.get(i), leaf));
    }
    return Holes.filled(plan, put);
  }

  private static final class Reading implements Runnable {
    private final Returned returned;

    public Reading(Returned returned) {
      this.returned = returned;
    }

    public void run() {
      try {
        returned.plan = (LogicalPlan) Packed.read(returned.bytes, returned.filter, returned.functions);
      } catch (Throwable trouble) {
        returned.trouble = trouble;
      }
    }
  }
}
