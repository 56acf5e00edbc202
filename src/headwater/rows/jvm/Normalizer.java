package headwater;

import java.lang.reflect.Constructor;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.AttributeReference;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.PlanExpression;
import org.apache.spark.sql.catalyst.expressions.ScalarSubquery;
import org.apache.spark.sql.catalyst.expressions.SubqueryExpression;
import org.apache.spark.sql.catalyst.plans.Inner$;
import org.apache.spark.sql.catalyst.plans.logical.Aggregate;
import org.apache.spark.sql.catalyst.plans.logical.Join;
import org.apache.spark.sql.catalyst.plans.logical.JoinHint;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.rules.Rule;

/**
 * Reduces an analyzed plan to fewer operators: without CTEs, views and hints, with correlated subqueries as joins, and
 * with DISTINCT, INTERSECT and EXCEPT as aggregates and joins. It uses Catalyst's own rules, but none that only
 * optimize: these add conditions and remove operators.
 */
public final class Normalizer {
  private static final String PULL_UP = "PullupCorrelatedPredicates";
  private static final String[] RULES = {
    "RewriteExceptAll",
    "RewriteIntersectAll",
    "ReplaceIntersectWithSemiJoin",
    "ReplaceExceptWithAntiJoin",
    "ReplaceDistinctWithAggregate",
    "ReplaceDeduplicateWithAggregate",
    PULL_UP,
    "RewriteLateralSubquery",
    "RewriteCorrelatedScalarSubquery",
    "RewritePredicateSubquery"
  };
  private static final int MAX_ROUNDS = 25;
  private final Object optimizer;
  private final Set domainColumns = new HashSet(); // their expression ids
  private final Set collectedColumns = new HashSet(); // likewise

  public Normalizer(Object session) throws Exception {
    optimizer = Trees.call(Trees.call(session, "sessionState"), "optimizer");
  }

  public LogicalPlan normalize(LogicalPlan analyzed) throws Exception {
    record(analyzed);
    LogicalPlan plan = (LogicalPlan) inlineCtes().apply(analyzed);
    plan = (LogicalPlan) ((Rule) Trees.call(optimizer, "FinishAnalysis")).apply(plan);
    plan = (LogicalPlan) rewrite(plan).clone(); // a node in two places is two nodes: a frame united with itself
    return (LogicalPlan) withOwnDomains(plan).transformAllExpressions(new DomainNames(domainColumns));
  }

  /**
   * As in Spark's optimizer: a subquery's own subqueries become joins before the subquery does. In another order their
   * correlated conditions would lose the operator that they refer to.
   */
  LogicalPlan rewrite(LogicalPlan original) throws Exception {
    LogicalPlan plan = (LogicalPlan) rule("OptimizeOneRowRelationSubquery").apply(original);
    plan = (LogicalPlan) rule(PULL_UP).apply(plan);
    record(plan);
    SubqueryRule subqueries = new SubqueryRule(this);
    plan = (LogicalPlan) plan.transformAllExpressions(subqueries);
    if (subqueries.failure != null) {
      throw subqueries.failure;
    }
    for (int round = 0; round < MAX_ROUNDS; round++) { // a subquery may have subqueries of its own
      LogicalPlan before = plan;
      for (int i = 0; i < RULES.length; i++) {
        plan = (LogicalPlan) rule(RULES[i]).apply(plan);
        record(plan);
      }
      if (plan.fastEquals(before)) {
        break;
      }
    }
    return plan;
  }

  /** Rewrites the plans of subqueries, but for scalar ones without correlation: these become blocks of their own. */
  private static final class SubqueryRule extends scala.runtime.AbstractPartialFunction {
    private final Normalizer normalizer;
    private Exception failure;

    public SubqueryRule(Normalizer normalizer) {
      this.normalizer = normalizer;
    }

    public boolean isDefinedAt(Object expression) {
      return true;
    }

    public Object applyOrElse(Object expression, scala.Function1 otherwise) {
      if (!(expression instanceof SubqueryExpression) || failure != null) {
        return expression;
      }
      SubqueryExpression subquery = (SubqueryExpression) expression;
      if (subquery instanceof ScalarSubquery && Trees.list(subquery.children()).isEmpty()) {
        return subquery;
      }
      try {
        return subquery.withNewPlan(normalizer.rewrite((LogicalPlan) subquery.plan()));
      } catch (Exception failed) {
        failure = failed;
        return expression;
      }
    }
  }

  /**
   * Names the columns of domains apart from those that they are copies of. An optimizer's rule removes an alias that
   * keeps the name; in a branch of a union it would leave a column twice, which Spark then refuses.
   */
  private static final class DomainNames extends scala.runtime.AbstractPartialFunction {
    private final Set columns;

    public DomainNames(Set columns) {
      this.columns = columns;
    }

    public boolean isDefinedAt(Object expression) {
      return true;
    }

    public Object applyOrElse(Object expression, scala.Function1 otherwise) {
      if (expression instanceof AttributeReference) {
        AttributeReference column = (AttributeReference) expression;
        boolean isOuter = columns.contains(column.exprId()) && !column.name().startsWith("outer(");
        return isOuter ? column.withName("outer(" + column.name() + ")") : column;
      }
      return expression;
    }
  }

  /** Gives the columns of a domain's copy of the outer query ids of their own, as those of a table joined with itself. */
  private LogicalPlan withOwnDomains(LogicalPlan node) throws Exception {
    List children = Trees.list(node.children());
    if (isDomain(node)) {
      LogicalPlan outer = (LogicalPlan) children.get(0);
      LogicalPlan twice = new Join(outer, outer.clone(), Inner$.MODULE$, scala.Option.apply(null), JoinHint.NONE());
      LogicalPlan copy = ((Join) analysisRule("DeduplicateRelations").apply(twice)).right();
      List from = Trees.list(outer.output());
      List to = Trees.list(copy.output());
      Object[] fields = Trees.fields(node);
      fields[0] = Trees.seq(substitute(((Aggregate) node).groupingExpressions(), from, to));
      fields[1] = Trees.seq(substitute(((Aggregate) node).aggregateExpressions(), from, to));
      fields[2] = copy;
      return (LogicalPlan) node.makeCopy(fields);
    }
    boolean changed = false;
    for (int i = 0; i < children.size(); i++) {
      LogicalPlan child = withOwnDomains((LogicalPlan) children.get(i));
      changed = changed || child != children.get(i);
      children.set(i, child);
    }
    return changed ? Trees.withChildren(node, children) : node;
  }

  private static List substitute(scala.collection.Seq expressions, List from, List to) {
    List all = Trees.list(expressions);
    for (int i = 0; i < all.size(); i++) {
      all.set(i, Substitute.in((Expression) all.get(i), from, to));
    }
    return all;
  }

  /**
   * Whether the node is a domain: the distinct values of a query's rows that a correlated subquery is computed for.
   * Decorrelation copies the outer query for it. The copy's rows are not sources: each value is that of the outer row
   * itself, with which the subquery's result is joined.
   */
  public boolean isDomain(LogicalPlan node) {
    if (!(node instanceof Aggregate) || domainColumns.isEmpty()) {
      return false;
    }
    List columns = Trees.list(((Aggregate) node).aggregateExpressions());
    for (int i = 0; i < columns.size(); i++) {
      Object column = columns.get(i);
      if (!(column instanceof Alias) || !domainColumns.contains(((Alias) column).exprId())) {
        return false;
      }
    }
    return !columns.isEmpty();
  }

  /** Whether a leaf has values that Spark collected while it analyzed the query: those of `transpose()`. */
  public boolean isCollected(LogicalPlan leaf) {
    List columns = Trees.list(leaf.output());
    return !columns.isEmpty() && collectedColumns.contains(((Attribute) columns.get(0)).exprId());
  }

  private void record(LogicalPlan node) throws Exception {
    if (Trees.name(node).equals("DomainJoin")) {
      List columns = Trees.list(Trees.call(node, "domainAttrs"));
      for (int i = 0; i < columns.size(); i++) {
        domainColumns.add(((Attribute) columns.get(i)).exprId());
      }
    }
    if (Trees.name(node).equals("Transpose")) {
      List columns = Trees.list(node.output());
      for (int i = 0; i < columns.size(); i++) {
        collectedColumns.add(((Attribute) columns.get(i)).exprId());
      }
    }
    List children = Trees.list(node.children());
    for (int i = 0; i < children.size(); i++) {
      record((LogicalPlan) children.get(i));
    }
    List expressions = Trees.list(node.expressions());
    for (int i = 0; i < expressions.size(); i++) {
      record((Expression) expressions.get(i));
    }
  }

  private void record(Expression expression) throws Exception {
    if (expression instanceof PlanExpression) {
      record((LogicalPlan) ((PlanExpression) expression).plan());
    }
    List children = Trees.list(expression.children());
    for (int i = 0; i < children.size(); i++) {
      record((Expression) children.get(i));
    }
  }

  private static Rule rule(String name) throws Exception {
    return singleton("org.apache.spark.sql.catalyst.optimizer." + name + "$");
  }

  private static Rule analysisRule(String name) throws Exception {
    return singleton("org.apache.spark.sql.catalyst.analysis." + name + "$");
  }

  private static Rule singleton(String name) throws Exception {
    return (Rule) Class.forName(name).getField("MODULE$").get(null);
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
