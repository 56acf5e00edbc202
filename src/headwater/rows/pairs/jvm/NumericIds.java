package headwater;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.AttributeReference;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.XxHash64;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.types.LongType$;
import org.apache.spark.sql.types.StringType;

/**
 * Replaces paths in source ids by their hashes, from the leaf on, so that a shuffled row carries 16 bytes for each
 * source.
 */
public final class NumericIds {
  private static final String FILE = "__hw_s\\d+_file";
  private static final long SEED = 42L; // as in the SQL function
  private final Object session;

  public NumericIds(Object session) {
    this.session = session;
  }

  public Object apply(Object frame) throws Exception {
    return new Trees(session).frame(plan(Trees.plan(frame)));
  }

  private LogicalPlan plan(LogicalPlan node) {
    List children = Trees.list(node.children());
    for (int i = 0; i < children.size(); i++) {
      children.set(i, plan((LogicalPlan) children.get(i)));
    }
    LogicalPlan rebuilt = children.isEmpty() ? node : (LogicalPlan) node.withNewChildren(Trees.seq(children));
    return (LogicalPlan) rebuilt.mapExpressions(new ReplaceIds());
  }

  public static final class ReplaceIds extends scala.runtime.AbstractFunction1 {
    public Object apply(Object expression) {
      return replaced((Expression) expression);
    }
  }

  static Expression replaced(Expression expression) {
    if (expression instanceof AttributeReference) {
      AttributeReference column = (AttributeReference) expression;
      boolean text = column.name().matches(FILE) && column.dataType() instanceof StringType;
      return text
          ? new AttributeReference(
              column.name(), LongType$.MODULE$, column.nullable(), column.metadata(), column.exprId(),
              column.qualifier())
          : column;
    }
    List children = Trees.list(expression.children());
    for (int i = 0; i < children.size(); i++) {
      children.set(i, replaced((Expression) children.get(i)));
    }
    Expression rebuilt = children.isEmpty() ? expression : (Expression) expression.withNewChildren(Trees.seq(children));
    return rebuilt instanceof Alias && ((Alias) rebuilt).name().matches(FILE) ? number((Alias) rebuilt) : rebuilt;
  }

  private static Expression number(Alias alias) {
    Expression value = alias.child();
    if (!(value.dataType() instanceof StringType)) {
      return alias; // a number already
    }
    Expression number;
    if (value instanceof Literal && ((Literal) value).value() == null) {
      number = new Literal(null, LongType$.MODULE$);
    } else {
      number = new XxHash64(Trees.seq(new ArrayList(Arrays.asList(new Object[] {value}))), SEED);
    }
    return (Expression) alias.withNewChildren(Trees.seq(new ArrayList(Arrays.asList(new Object[] {number}))));
  }
}
