package headwater;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.In;
import org.apache.spark.sql.catalyst.expressions.IsNull;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.Literal$;
import org.apache.spark.sql.catalyst.expressions.Or;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.LocalLimit;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.IntegerType$;
import org.apache.spark.sql.types.MapType;
import org.apache.spark.sql.types.StructType;

/** The distinct rows of a frame, collected if there are few of them. They stay in the JVM, so values stay exact. */
public final class SmallRowSet {
  private final Object frame;
  private final List rows;

  public SmallRowSet(Trees trees, Object source, int maxRows) throws Exception {
    List collected = maxRows == 0 ? null : distinct(trees, source, maxRows);
    if (collected == null || collected.size() > maxRows) {
      rows = null;
      frame = Trees.call(source, "distinct");
    } else {
      rows = collected;
      Object session = trees.session();
      Class[] parameters = new Class[] {List.class, StructType.class};
      Method createDataFrame = session.getClass().getMethod("createDataFrame", parameters);
      frame = createDataFrame.invoke(session, new Object[] {collected, Trees.call(source, "schema")});
    }
  }

  public static List collect(Object source, int maxRows) throws Exception {
    Method limit = source.getClass().getMethod("limit", new Class[] {Integer.TYPE});
    return (List) Trees.call(limit.invoke(source, new Object[] {Integer.valueOf(maxRows)}), "collectAsList");
  }

  /** The distinct rows, in one job. Every partition stops when it has too many by itself. */
  private static List distinct(Trees trees, Object source, int maxRows) throws Exception {
    LogicalPlan plan = Trees.plan(source);
    Object optimized = Trees.call(Trees.call(source, "queryExecution"), "optimizedPlan");
    boolean isLocal = Trees.name(optimized).equals("LocalRelation");
    Expression limit = new Literal(Integer.valueOf(maxRows + 1), IntegerType$.MODULE$);
    Object limited = isLocal ? source : trees.frame(new LocalLimit(limit, plan));
    return new ArrayList(new LinkedHashSet((List) Trees.call(limited, "collectAsList")));
  }

  public boolean isSmall() {
    return rows != null;
  }

  public Object frame() {
    return frame;
  }

  /** The plan, filtered to rows whose key is among the values of that column. */
  public LogicalPlan restrict(LogicalPlan plan, Attribute key, Attribute column) {
    Object type = key.dataType();
    boolean nested = type instanceof StructType || type instanceof ArrayType || type instanceof MapType;
    if (rows == null || nested || !type.equals(column.dataType())) {
      return plan;
    }
    Set values = new LinkedHashSet();
    for (int i = 0; i < rows.size(); i++) {
      Row row = (Row) rows.get(i);
      values.add(row.get(row.fieldIndex(column.name())));
    }
    List literals = new ArrayList();
    Object[] distinctValues = values.toArray();
    for (int i = 0; i < distinctValues.length; i++) {
      if (distinctValues[i] != null) {
        literals.add(Literal$.MODULE$.create(distinctValues[i], key.dataType()));
      }
    }
    Expression condition = new In(key, Trees.seq(literals));
    if (values.contains(null)) {
      condition = new Or(condition, new IsNull(key));
    }
    return new Filter(condition, plan);
  }
}
