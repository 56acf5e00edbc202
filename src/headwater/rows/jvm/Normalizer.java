package headwater;

import java.lang.reflect.Constructor;
import java.util.Arrays;

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.rules.Rule;

/**
 * Reduces an analyzed plan to fewer operators: without CTEs, views and hints, with correlated subqueries as joins, and
 * with DISTINCT, INTERSECT and EXCEPT as aggregates and joins. It uses Catalyst's own rules, but none that only
 * optimize: these add conditions and remove operators.
 */
public final class Normalizer {
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
  private static final int MAX_ROUNDS = 25;
  private final Object optimizer;

  public Normalizer(Object session) throws Exception {
    optimizer = Trees.call(Trees.call(session, "sessionState"), "optimizer");
  }

  public LogicalPlan normalize(LogicalPlan analyzed) throws Exception {
    LogicalPlan plan = (LogicalPlan) inlineCtes().apply(analyzed);
    plan = (LogicalPlan) ((Rule) Trees.call(optimizer, "FinishAnalysis")).apply(plan);
    for (int round = 0; round < MAX_ROUNDS; round++) { // a subquery may have subqueries of its own
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
  private static Rule inlineCtes() throws Exception {
    Constructor constructor = Class.forName("org.apache.spark.sql.catalyst.optimizer.InlineCTE").getConstructors()[0];
    Object[] switches = new Object[constructor.getParameterTypes().length];
    Arrays.fill(switches, Boolean.FALSE);
    switches[0] = Boolean.TRUE;
    return (Rule) constructor.newInstance(switches);
  }
}
