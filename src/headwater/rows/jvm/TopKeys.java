package headwater;

import java.util.ArrayList;
import java.util.List;

import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.plans.logical.Aggregate;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;

/**
 * Finds group keys in the result. Below operators that only filter, sort and rename, a row of the result is a row of
 * the aggregate, and often contains the keys of its group.
 */
public final class TopKeys {
  private static final List ROW_PRESERVING = OperatorTraits.operatorsWith("tracedAsOneRow");
  private static final List ORDER_DEPENDENT = OperatorTraits.operatorsWith("orderMatters");
  private final List nodes = new ArrayList();
  private final List outputs;

  public TopKeys(LogicalPlan root) {
    outputs = Trees.list(root.output());
    LogicalPlan node = root;
    nodes.add(node);
    while (isTraced(node)) {
      node = (LogicalPlan) Trees.list(node.children()).get(0);
      nodes.add(node);
    }
  }

  /** Whether a row of the operator's output is a row of its input. */
  private static boolean isTraced(LogicalPlan node) {
    return ROW_PRESERVING.contains(Trees.name(node)) || Trees.name(node).equals("Sample");
  }

  private static boolean isLimit(LogicalPlan node) {
    return ORDER_DEPENDENT.contains(Trees.name(node)) || Trees.name(node).equals("Sample");
  }

  /** Whether operators at the top take some rows of those below. */
  public static boolean isLimited(LogicalPlan node) {
    return isTraced(node) && (isLimit(node) || isLimited((LogicalPlan) Trees.list(node.children()).get(0)));
  }

  /** The plan without limits, samples and sorts at its top, for rows that are known to be in the result. */
  public static LogicalPlan withoutLimits(LogicalPlan node) {
    if (!isTraced(node)) {
      return node;
    }
    LogicalPlan child = withoutLimits((LogicalPlan) Trees.list(node.children()).get(0));
    if (isLimit(node) || Trees.name(node).equals("Sort")) {
      return child;
    }
    List children = new ArrayList();
    children.add(child);
    return Trees.withChildren(node, children);
  }

  /** The positions in a row of the result of the values that lead down from the node; null if some are missing. */
  public List resultPlaces(LogicalPlan node, int keyCount) {
    boolean onPath = false;
    for (int i = 0; i < nodes.size(); i++) {
      onPath = onPath || nodes.get(i) == node;
    }
    List places = new ArrayList();
    if (onPath && keyCount == 0) {
      return places;
    }
    if (!onPath || !(node instanceof Aggregate)) {
      return null;
    }
    List groups = Trees.list(((Aggregate) node).groupingExpressions());
    for (int i = 0; i < groups.size(); i++) {
      int place = resultPlace((Expression) groups.get(i), (Aggregate) node);
      if (place < 0) {
        return null;
      }
      places.add(Integer.valueOf(place));
    }
    return places;
  }

  private int resultPlace(Expression group, Aggregate aggregate) {
    Attribute column = renamed(Trees.list(aggregate.aggregateExpressions()), group);
    for (int i = nodes.size() - 2; column != null && i >= 0; i--) {
      if (nodes.get(i) instanceof Project) {
        column = renamed(Trees.list(((Project) nodes.get(i)).projectList()), column);
      }
    }
    for (int i = 0; column != null && i < outputs.size(); i++) {
      if (((Attribute) outputs.get(i)).exprId().equals(column.exprId())) {
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
