package headwater;

import java.util.List;
import java.util.Map;

import org.apache.spark.sql.catalyst.expressions.PlanExpression;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;

/** A plan with some rows of its sources in place of all. Sources that are not given stay as they are. */
public final class Reexecution {
  private final Trees trees;
  private final Leaves leaves;
  private final LogicalPlan root;
  private final Map frames;

  /** ``frames``: by the number of a source, its rows with the ids that {@link Leaves#withIds} adds. */
  public Reexecution(Object builder, Object frames) throws Exception {
    this.trees = ((BlockBuilder) builder).trees();
    this.leaves = ((BlockBuilder) builder).leaves();
    this.root = ((BlockBuilder) builder).root();
    this.frames = (Map) frames;
  }

  public Object frame() throws Exception {
    return trees.frame(restrict(root));
  }

  private LogicalPlan restrict(LogicalPlan node) throws Exception {
    Leaves.Source source = leaves.source(node);
    if (source != null) {
      Object frame = frames.get(Integer.valueOf(source.number));
      return frame == null ? node : new Project(Trees.seq(Trees.list(node.output())), Trees.plan(frame));
    }
    List children = Trees.list(node.children());
    for (int i = 0; i < children.size(); i++) {
      children.set(i, restrict((LogicalPlan) children.get(i)));
    }
    if (Trees.name(node).equals("Sample")) { // its rows are known
      return (LogicalPlan) children.get(0);
    }
    LogicalPlan copy = children.isEmpty() ? node : Trees.withChildren(node, children);
    SubqueryRule rule = new SubqueryRule(this);
    LogicalPlan restricted = (LogicalPlan) copy.transformExpressions(rule);
    if (rule.failure != null) {
      throw rule.failure;
    }
    return restricted;
  }

  /** Restricts the plans of subqueries, which are sources of their own. */
  private static final class SubqueryRule extends scala.runtime.AbstractPartialFunction {
    private final Reexecution reexecution;
    private Exception failure;

    public SubqueryRule(Reexecution reexecution) {
      this.reexecution = reexecution;
    }

    public boolean isDefinedAt(Object expression) {
      return expression instanceof PlanExpression;
    }

    public Object applyOrElse(Object expression, scala.Function1 otherwise) {
      if (!isDefinedAt(expression)) {
        return otherwise.apply(expression);
      }
      try {
        PlanExpression subquery = (PlanExpression) expression;
        LogicalPlan plan = reexecution.leaves.normalizedPlan(subquery);
        return plan == null ? subquery : subquery.withNewPlan(reexecution.restrict(plan));
      } catch (Exception failed) {
        failure = failed;
        return expression;
      }
    }
  }
}
