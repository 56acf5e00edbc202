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

/** A join's condition, seen from one side: what has to be equal here and there, and what else must hold. */
public final class Sides {
  public final List keys = new ArrayList(); // the equalities themselves
  public final List here = new ArrayList();
  public final List there = new ArrayList();
  public final List safe = new ArrayList();
  public final List rest = new ArrayList();
  public final List hereOrNull = new ArrayList(); // of NOT IN: equal, or not known to be different
  public final List thereOrNull = new ArrayList();

  public Sides(Join join, int place) {
    List conjuncts = new ArrayList();
    if (join.condition().isDefined()) {
      Conditions.conjuncts((Expression) join.condition().get(), conjuncts);
    }
    for (int i = 0; i < conjuncts.size(); i++) {
      Expression condition = (Expression) conjuncts.get(i);
      Expression[] sides = Conditions.equated(condition, join.left(), join.right());
      Expression[] orNull = sides == null ? equalOrNull(condition, join) : null;
      if (sides != null) {
        keys.add(condition);
        here.add(sides[place]);
        there.add(sides[1 - place]);
        safe.add(Boolean.valueOf(condition instanceof EqualNullSafe));
      } else {
        rest.add(condition);
      }
      if (orNull != null) {
        hereOrNull.add(orNull[place]);
        thereOrNull.add(orNull[1 - place]);
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
    return same ? Conditions.equated(one, join.left(), join.right()) : null;
  }

  /** The columns here that the further conditions are about. */
  public List seenHere(LogicalPlan plan) {
    List found = new ArrayList();
    List all = references(rest);
    for (int i = 0; i < all.size(); i++) {
      if (plan.outputSet().contains((Attribute) all.get(i))) {
        found.add(all.get(i));
      }
    }
    return found;
  }

  public static List references(List expressions) {
    List found = new ArrayList();
    for (int i = 0; i < expressions.size(); i++) {
      List each = Trees.list(((Expression) expressions.get(i)).references());
      for (int j = 0; j < each.size(); j++) {
        if (!contains(found, (Attribute) each.get(j))) {
          found.add(each.get(j));
        }
      }
    }
    return found;
  }

  private static boolean contains(List found, Attribute wanted) {
    for (int i = 0; i < found.size(); i++) {
      if (((Attribute) found.get(i)).exprId().equals(wanted.exprId())) {
        return true;
      }
    }
    return false;
  }
}
