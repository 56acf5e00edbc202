package headwater;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import com.fasterxml.jackson.databind.ObjectMapper;
import org.apache.spark.api.python.PythonFunction;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.plans.logical.LocalRelation;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;

/**
 * The query below a write command, serialized, with a check that it can be read again: it is deserialized through the
 * reader's own filter, gets its leaves back, and must equal the original plan.
 */
public final class KeptPlan {
  private static final long STACK = 256L << 20; // of address space; Java's streams follow a plan by recursion
  private static final int MAX_TEXT_LENGTH = 20000;

  private final int maxNodes;
  private final int maxBytes;
  private final int maxRows;
  private QueryContext context;
  private LogicalPlan query;
  private List leaves = new ArrayList();
  private List inside = new ArrayList();
  private PlanStream stream;
  private String problem;

  /** ``context``: the QueryContext of the query's execution; with null, the plan stays as it was written. */
  public KeptPlan(Object command, Object context, Integer maxNodes, Integer maxBytes, Integer maxRows)
      throws Exception {
    this.maxNodes = maxNodes.intValue();
    this.maxBytes = maxBytes.intValue();
    this.maxRows = maxRows.intValue();
    this.query = (LogicalPlan) new WrittenQuery(command).plan();
    if (query == null) {
      problem = "the command " + command.getClass().getSimpleName() + " does not show the query that it writes";
      return;
    }
    this.context = (QueryContext) context;
    DeepStack.run(new BuildTask(this), STACK);
  }

  public List leaves() {
    return leaves;
  }

  /** The plan as JSON, or the problem why it cannot be stored. */
  public String describe() throws Exception {
    Map description = new LinkedHashMap();
    if (stream == null) {
      description.put("problem", problem);
    } else {
      description.put("bytes", stream.text());
      description.put("digest", stream.digest());
      description.put("python", stream.pythonNames());
      description.put("text", text());
      description.put("columns", columns());
      description.put("inside", inside);
      description.put("time", context == null ? null : context.time());
    }
    return new ObjectMapper().writeValueAsString(description);
  }

  private List columns() {
    List names = new ArrayList();
    List output = Trees.list(query.output());
    for (int i = 0; i < output.size(); i++) {
      names.add(((Attribute) output.get(i)).name());
    }
    return names;
  }

  /** The plan as text. */
  private String text() {
    String text = query.toString();
    return text.length() <= MAX_TEXT_LENGTH ? text : text.substring(0, MAX_TEXT_LENGTH) + "\n…";
  }

  private static final class BuildTask implements Runnable {
    private final KeptPlan keptPlan;

    public BuildTask(KeptPlan keptPlan) {
      this.keptPlan = keptPlan;
    }

    public void run() {
      keptPlan.build();
    }
  }

  private void build() {
    try {
      int nodes = count(query);
      if (nodes > maxNodes) {
        problem = "the plan has " + nodes + " operators; up to " + maxNodes + " are stored";
        return;
      }
      LogicalPlan planWithoutViews = PlanLeaves.withoutViews(query);
      if (context != null) {
        planWithoutViews = context.fix(planWithoutViews);
      }
      leaves = PlanLeaves.leaves(planWithoutViews);
      for (int i = 0; i < leaves.size(); i++) {
        inside.add(Boolean.valueOf(isStoredInPlan(leaves.get(i))));
      }
      stream = new PlanStream(PlanLeaves.withEmptyLeaves(planWithoutViews, inside), Integer.valueOf(maxBytes));
      problem = roundTripProblem(planWithoutViews);
    } catch (java.io.NotSerializableException closed) {
      problem = "the plan holds " + closed.getMessage() + ", which cannot be serialized";
    } catch (java.io.InvalidObjectException unlisted) {
      problem = "the plan holds " + unlisted.getMessage();
    } catch (StackOverflowError deep) {
      problem = "the plan is nested too deep to be serialized";
    } catch (Exception trouble) {
      problem = String.valueOf(trouble.getMessage());
    }
    if (problem != null) {
      stream = null;
    }
  }

  /** Why the serialized plan cannot be read as the same plan, or null if it can. */
  private String roundTripProblem(LogicalPlan planWithoutViews) throws Exception {
    for (int i = 0; i < stream.functions().size(); i++) {
      if (!((PythonFunction) stream.functions().get(i)).broadcastVars().isEmpty()) {
        return "a Python function uses a broadcast variable, which is gone with the session";
      }
    }
    PlanFilter filter = new PlanFilter(Boolean.TRUE);
    LogicalPlan restored;
    try {
      restored = (LogicalPlan) PlanStream.read(stream.bytes(), filter, stream.functions());
    } catch (java.io.ObjectStreamException refused) {
      return "the plan could not be read again: "
          + (filter.refusalReason() == null ? refused.getMessage() : filter.refusalReason());
    }
    LogicalPlan roundTrip = PlanLeaves.withLeaves(restored, leaves);
    boolean isSame = roundTrip.equals(planWithoutViews) || roundTrip.sameResult(planWithoutViews);
    return isSame ? null : "the plan is not the same after it was serialized";
  }

  private boolean isStoredInPlan(Object leaf) {
    if (PlanLeaves.isSelfContained(leaf)) {
      return true;
    }
    return leaf instanceof LocalRelation && ((LocalRelation) leaf).data().size() <= maxRows;
  }

  private static int count(LogicalPlan plan) {
    int nodes = 1;
    List below = Trees.list(plan.children());
    below.addAll(Trees.list(plan.subqueries()));
    for (int i = 0; i < below.size(); i++) {
      nodes += count((LogicalPlan) below.get(i));
    }
    return nodes;
  }
}
