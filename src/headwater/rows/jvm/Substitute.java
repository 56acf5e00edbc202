package headwater;

import java.util.List;

import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Expression;

/** Replaces attributes in an expression. */
public final class Substitute {
  private Substitute() {}

  public static Expression in(Expression expression, List from, List to) {
    if (expression instanceof Attribute) {
      for (int i = 0; i < from.size(); i++) {
        if (((Attribute) from.get(i)).exprId().equals(((Attribute) expression).exprId())) {
          return (Expression) to.get(i);
        }
      }
      return expression;
    }
    List children = Trees.list(expression.children());
    for (int i = 0; i < children.size(); i++) {
      children.set(i, in((Expression) children.get(i), from, to));
    }
    return children.isEmpty() ? expression : (Expression) expression.withNewChildren(Trees.seq(children));
  }
}
