package headwater;

import java.lang.reflect.Constructor;
import java.util.Arrays;

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.rules.Rule;

/**
 * An analyzed plan in fewer words: without CTEs, views and hints; subqueries that depend on the row around them as
 * joins; DISTINCT, INTERSECT and EXCEPT as aggregates and joins. All of it by Catalyst's own rules, and none of those
 * that only make a plan faster: they add conditions and leave out operators.
 */
public final class Normal {
  private static final String[] RULES = {
    "RewriteExceptAll",
    "RewriteIntersectAll",
    "ReplaceIntersectWithSemiJoin",
    "ReplaceExceptWithAntiJoin",
    "ReplaceDistinctWithAggregate",
    "ReplaceDeduplicateWithAggregate",
    "PullupCorrelatedPredicates",
    "RewriteLateralSubquery",
    "RewriteCorrelatedScalarSubquery",
    "RewritePredicateSubquery"
  };
  private static final int MOST_ROUNDS = 25;
  private final Object optimizer;

  public Normal(Object session) throws Exception {
    optimizer = Trees.call(Trees.call(session, "sessionState"), "optimizer");
  }

  public LogicalPlan of(LogicalPlan analyzed) throws Exception {
    LogicalPlan plan = (LogicalPlan) inlined().apply(analyzed);
    plan = (LogicalPlan) ((Rule) Trees.call(optimizer, "FinishAnalysis")).apply(plan);
    for (int round = 0; round < MOST_ROUNDS; round++) { // a subquery may have subqueries of its own
      LogicalPlan before = plan;
      for (int i = 0; i < RULES.length; i++) {
        plan = (LogicalPlan) rule(RULES[i]).apply(plan);
      }
      if (plan.fastEquals(before)) {
        break;
      }
    }
    return (LogicalPlan) plan.clone(); // a node in two places is two nodes: a frame united with itself
  }

  private static Rule rule(String name) throws Exception {
    Class kind = Class.forName("org.apache.spark.sql.catalyst.optimizer." + name + "$");
    return (Rule) kind.getField("MODULE$").get(null);
  }

  /** Every reference to a CTE gets a copy of it: each is an occurrence of its sources. */
  private static Rule inlined() throws Exception {
    Constructor made = Class.forName("org.apache.spark.sql.catalyst.optimizer.InlineCTE").getConstructors()[0];
    Object[] switches = new Object[made.getParameterTypes().length];
    Arrays.fill(switches, Boolean.FALSE);
    switches[0] = Boolean.TRUE;
    return (Rule) made.newInstance(switches);
  }
}
