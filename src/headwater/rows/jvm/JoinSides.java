package headwater;

import java.util.ArrayList;
import java.util.List;

import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.EqualNullSafe;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.IsNull;
import org.apache.spark.sql.catalyst.expressions.Or;
import org.apache.spark.sql.catalyst.plans.logical.Join;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;

/** A join's condition, seen from one side: the keys of both sides, and the other conditions. */
public final class JoinSides {
  public final List keys = new ArrayList(); // the equalities themselves
  public final List ownKeys = new ArrayList();
  public final List otherKeys = new ArrayList();
  public final List nullSafe = new ArrayList();
  public final List otherConditions = new ArrayList();
  public final List ownOrNull = new ArrayList(); // of NOT IN: equal, or null
  public final List otherOrNull = new ArrayList();

  public JoinSides(Join join, int place) {
    List conjuncts = new ArrayList();
    if (join.condition().isDefined()) {
      Conditions.conjuncts((Expression) join.condition().get(), conjuncts);
    }
    for (int i = 0; i < conjuncts.size(); i++) {
      Expression condition = (Expression) conjuncts.get(i);
      Expression[] sides = Conditions.equalSides(condition, join.left(), join.right());
      Expression[] orNull = sides == null ? equalOrNull(condition, join) : null;
      if (sides != null) {
        keys.add(condition);
        ownKeys.add(sides[place]);
        otherKeys.add(sides[1 - place]);
        nullSafe.add(Boolean.valueOf(condition instanceof EqualNullSafe));
      } else {
        otherConditions.add(condition);
      }
      if (orNull != null) {
        ownOrNull.add(orNull[place]);
        otherOrNull.add(orNull[1 - place]);
      }
    }
  }

  private static Expression[] equalOrNull(Expression condition, Join join) {
    if (!(condition instanceof Or)) {
      return null;
    }
    Expression one = ((Or) condition).left();
    Expression other = ((Or) condition).right();
    boolean same = other instanceof IsNull && ((IsNull) other).child().semanticEquals(one);
    return same ? Conditions.equalSides(one, join.left(), join.right()) : null;
  }

  /** The columns of this side in the other conditions. */
  public List ownConditionColumns(LogicalPlan plan) {
    List columns = new ArrayList();
    List all = references(otherConditions);
    for (int i = 0; i < all.size(); i++) {
      if (plan.outputSet().contains((Attribute) all.get(i))) {
        columns.add(all.get(i));
      }
    }
    return columns;
  }

  public static List references(List expressions) {
    List columns = new ArrayList();
    for (int i = 0; i < expressions.size(); i++) {
      List attributes = Trees.list(((Expression) expressions.get(i)).references());
      for (int j = 0; j < attributes.size(); j++) {
        if (!contains(columns, (Attribute) attributes.get(j))) {
          columns.add(attributes.get(j));
        }
      }
    }
    return columns;
  }

  private static boolean contains(List columns, Attribute wanted) {
    for (int i = 0; i < columns.size(); i++) {
      if (((Attribute) columns.get(i)).exprId().equals(wanted.exprId())) {
        return true;
      }
    }
    return false;
  }
}
