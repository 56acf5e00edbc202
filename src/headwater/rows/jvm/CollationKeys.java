package headwater;

import java.lang.reflect.Method;
import java.util.List;

import org.apache.spark.sql.catalyst.analysis.UnresolvedFunction;
import org.apache.spark.sql.catalyst.expressions.Expression;

/**
 * SQL with the keys by which a collation compares texts. Spark has the expression since version 4, and no function of
 * SQL for it.
 */
public final class CollationKeys {
  public static final String FUNCTION = "__hw_collation_key";

  private CollationKeys() {}

  public static boolean isIn(String text) {
    return text.indexOf(FUNCTION) >= 0;
  }

  public static Expression parse(Object session, String text) throws Exception {
    Object parser = Trees.call(Trees.call(session, "sessionState"), "sqlParser");
    Method parse = parser.getClass().getMethod("parseExpression", new Class[] {String.class});
    return withKeys((Expression) parse.invoke(parser, new Object[] {text}));
  }

  /** The text as a column of Spark 4. */
  public static Object column(Object session, String text) throws Exception {
    Class columns = Class.forName("org.apache.spark.sql.classic.ExpressionUtils");
    Method column = columns.getMethod("column", new Class[] {Expression.class});
    return column.invoke(null, new Object[] {parse(session, text)});
  }

  private static Expression withKeys(Expression expression) throws Exception {
    List children = Trees.list(expression.children());
    for (int i = 0; i < children.size(); i++) {
      children.set(i, withKeys((Expression) children.get(i)));
    }
    if (expression instanceof UnresolvedFunction) {
      List name = Trees.list(((UnresolvedFunction) expression).nameParts());
      if (name.size() == 1 && name.get(0).equals(FUNCTION)) {
        Class key = Class.forName("org.apache.spark.sql.catalyst.expressions.CollationKey");
        return (Expression) key.getConstructors()[0].newInstance(new Object[] {children.get(0)});
      }
    }
    return children.isEmpty() ? expression : (Expression) expression.withNewChildren(Trees.seq(children));
  }
}
