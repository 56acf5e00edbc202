package headwater;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.plans.logical.Aggregate;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;

/**
 * The operators at the top of a plan that only choose, order and rename: a row of the result is then a row of the
 * aggregate below, and often says itself which group it is.
 */
public final class Spine {
  private static final List CHOOSING = Arrays.asList(new Object[] {"GlobalLimit", "LocalLimit", "Sort"});
  private static final List ALONG =
      Arrays.asList(
          new Object[] {
            "Project", "Filter", "SubqueryAlias", "ResolvedHint", "Repartition", "RepartitionByExpression",
            "RebalancePartitions", "GlobalLimit", "LocalLimit", "Sort"
          });
  private final List nodes = new ArrayList();
  private final List outputs;

  public Spine(LogicalPlan root) {
    outputs = Trees.list(root.output());
    LogicalPlan node = root;
    nodes.add(node);
    while (ALONG.contains(Trees.name(node))) {
      node = (LogicalPlan) Trees.list(node.children()).get(0);
      nodes.add(node);
    }
  }

  /** Without the limits at the top: of rows that are known to be in the result they say nothing. */
  public static LogicalPlan unlimited(LogicalPlan node) {
    if (!ALONG.contains(Trees.name(node))) {
      return node;
    }
    LogicalPlan child = unlimited((LogicalPlan) Trees.list(node.children()).get(0));
    if (CHOOSING.contains(Trees.name(node))) {
      return child;
    }
    List children = new ArrayList();
    children.add(child);
    return Trees.withChildren(node, children);
  }

  /** Where in a row of the result the values are that lead down from the node: those of its groups, or none at all. */
  public List places(LogicalPlan node, int needed) {
    boolean here = false;
    for (int i = 0; i < nodes.size(); i++) {
      here = here || nodes.get(i) == node;
    }
    List places = new ArrayList();
    if (here && needed == 0) {
      return places;
    }
    if (!here || !(node instanceof Aggregate)) {
      return null;
    }
    List groups = Trees.list(((Aggregate) node).groupingExpressions());
    for (int i = 0; i < groups.size(); i++) {
      int place = place((Expression) groups.get(i), (Aggregate) node);
      if (place < 0) {
        return null;
      }
      places.add(Integer.valueOf(place));
    }
    return places;
  }

  private int place(Expression group, Aggregate aggregate) {
    Attribute here = renamed(Trees.list(aggregate.aggregateExpressions()), group);
    for (int i = nodes.size() - 2; here != null && i >= 0; i--) {
      if (nodes.get(i) instanceof Project) {
        here = renamed(Trees.list(((Project) nodes.get(i)).projectList()), here);
      }
    }
    for (int i = 0; here != null && i < outputs.size(); i++) {
      if (((Attribute) outputs.get(i)).exprId().equals(here.exprId())) {
        return i;
      }
    }
    return -1;
  }

  private static Attribute renamed(List columns, Expression wanted) {
    for (int i = 0; i < columns.size(); i++) {
      Expression column = (Expression) columns.get(i);
      if (column instanceof Alias && ((Alias) column).child().semanticEquals(wanted)) {
        return ((Alias) column).toAttribute();
      }
      if (column instanceof Attribute && column.semanticEquals(wanted)) {
        return (Attribute) column;
      }
    }
    return null;
  }
}
