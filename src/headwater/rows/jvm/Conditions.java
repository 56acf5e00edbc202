package headwater;

import java.util.List;

import org.apache.spark.sql.catalyst.expressions.And;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.EqualNullSafe;
import org.apache.spark.sql.catalyst.expressions.EqualTo;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;

/** Helpers for conditions. */
public final class Conditions {
  private Conditions() {}

  public static void conjuncts(Expression condition, List into) {
    if (condition instanceof And) {
      conjuncts(((And) condition).left(), into);
      conjuncts(((And) condition).right(), into);
    } else {
      into.add(condition);
    }
  }

  public static Expression[] equalSides(Expression condition, LogicalPlan left, LogicalPlan right) {
    if (!(condition instanceof EqualTo || condition instanceof EqualNullSafe)) {
      return null;
    }
    Expression one = (Expression) Trees.list(condition.children()).get(0);
    Expression other = (Expression) Trees.list(condition.children()).get(1);
    if (one.references().isEmpty() || other.references().isEmpty()) {
      return null;
    }
    if (one.references().subsetOf(left.outputSet()) && other.references().subsetOf(right.outputSet())) {
      return new Expression[] {one, other};
    }
    if (other.references().subsetOf(left.outputSet()) && one.references().subsetOf(right.outputSet())) {
      return new Expression[] {other, one};
    }
    return null;
  }

  public static boolean refersTo(List conditions, Attribute attribute) {
    for (int i = 0; i < conditions.size(); i++) {
      if (((Expression) conditions.get(i)).references().contains(attribute)) {
        return true;
      }
    }
    return false;
  }

  public static Expression and(Expression one, Expression other) {
    return one.foldable() ? other : (Expression) new And(one, other);
  }

  public static Attribute columnOf(LogicalPlan plan, String name) {
    List outputs = Trees.list(plan.output());
    for (int i = 0; i < outputs.size(); i++) {
      if (((Attribute) outputs.get(i)).name().equals(name)) {
        return (Attribute) outputs.get(i);
      }
    }
    throw new IllegalStateException("no column " + name + " in " + outputs);
  }
}
