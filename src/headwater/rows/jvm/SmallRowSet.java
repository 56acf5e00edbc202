package headwater;

import java.lang.reflect.Constructor;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.In;
import org.apache.spark.sql.catalyst.expressions.IsNull;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.Or;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.LocalLimit;
import org.apache.spark.sql.catalyst.plans.logical.LocalRelation;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.execution.QueryExecution;
import org.apache.spark.sql.execution.SQLExecution;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DateType$;
import org.apache.spark.sql.types.IntegerType$;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.types.TimestampType$;

/**
 * The distinct rows of a frame, collected if there are few of them. They stay in the JVM and in Spark's own form, so
 * that values stay exact: Java's dates and times have a gap in October 1582.
 */
public final class SmallRowSet {
  private static final double DAYS_OF_1900 = -25567;
  private static final double MICROS_OF_DAY = 86400000000.0;
  private final Object frame;
  private final List columns;
  private final List rows;

  public SmallRowSet(Trees trees, Object source, int maxRows) throws Exception {
    List collected = maxRows == 0 ? null : distinct(trees, source, maxRows);
    columns = Trees.list(Trees.plan(source).output());
    if (collected == null || collected.size() > maxRows) {
      rows = null;
      frame = DistinctRows.of(trees, source);
    } else {
      rows = collected;
      frame = trees.frame(localRelation(columns, collected));
    }
  }

  /** Up to that many rows of a frame, as internal rows. */
  public static List collect(Trees trees, Object source, int maxRows) throws Exception {
    Expression limit = new Literal(Integer.valueOf(maxRows), IntegerType$.MODULE$);
    return collect(trees.frame(new LocalLimit(limit, Trees.plan(source))));
  }

  private static List collect(Object frame) throws Exception {
    QueryExecution execution = (QueryExecution) Trees.call(frame, "queryExecution");
    Object rows = SQLExecution.withNewExecutionId(execution, scala.Option.apply("collect"), new Collected(execution));
    return Arrays.asList((Object[]) rows);
  }

  /** Collects within an execution of its own, as Dataset.collect does. */
  public static final class Collected extends scala.runtime.AbstractFunction0 {
    private final QueryExecution execution;

    public Collected(QueryExecution execution) {
      this.execution = execution;
    }

    public Object apply() {
      return execution.executedPlan().executeCollect();
    }
  }

  /** The distinct rows, in one job. Every partition stops when it has too many by itself. */
  private static List distinct(Trees trees, Object source, int maxRows) throws Exception {
    LogicalPlan plan = Trees.plan(source);
    Object optimized = Trees.call(Trees.call(source, "queryExecution"), "optimizedPlan");
    boolean isLocal = Trees.name(optimized).equals("LocalRelation");
    Expression limit = new Literal(Integer.valueOf(maxRows + 1), IntegerType$.MODULE$);
    Object limited = isLocal ? source : trees.frame(new LocalLimit(limit, plan));
    return new ArrayList(new LinkedHashSet(collect(limited)));
  }

  /** Since Spark 4 a local relation may have a stream too. */
  private static LogicalPlan localRelation(List columns, List rows) throws Exception {
    List attributes = new ArrayList();
    for (int i = 0; i < columns.size(); i++) {
      attributes.add(((Attribute) columns.get(i)).newInstance());
    }
    Constructor constructor = LocalRelation.class.getConstructors()[0];
    Object[] fields = new Object[constructor.getParameterTypes().length];
    Arrays.fill(fields, scala.Option.apply(null));
    fields[0] = Trees.seq(attributes);
    fields[1] = Trees.seq(rows);
    fields[2] = Boolean.FALSE;
    return (LogicalPlan) constructor.newInstance(fields);
  }

  public boolean isSmall() {
    return rows != null;
  }

  public Object frame() {
    return frame;
  }

  /** The plan, filtered to rows whose key is among the values of that column. */
  public LogicalPlan restrict(LogicalPlan plan, Attribute key, Attribute column) {
    DataType type = key.dataType();
    boolean nested = type instanceof StructType || type instanceof ArrayType || !RowHash.isComparable(type);
    if (rows == null || nested || !type.equals(column.dataType())) {
      return plan;
    }
    Set values = new LinkedHashSet();
    int place = place(column.name());
    for (int i = 0; i < rows.size(); i++) {
      values.add(((InternalRow) rows.get(i)).get(place, type));
    }
    List literals = new ArrayList();
    Object[] distinctValues = values.toArray();
    for (int i = 0; i < distinctValues.length; i++) {
      if (distinctValues[i] instanceof Number && isSkippedWrongly(((Number) distinctValues[i]).doubleValue(), type)) {
        return plan;
      }
      if (distinctValues[i] != null) {
        literals.add(new Literal(distinctValues[i], type));
      }
    }
    Expression condition = new In(key, Trees.seq(literals));
    if (values.contains(null)) {
      condition = new Or(condition, new IsNull(key));
    }
    return new Filter(condition, plan);
  }

  /**
   * A source that skips by statistics or a dictionary may take 0.0 and -0.0 for different, and NaN for unequal. And it
   * gets dates and times as Java's, which have no 10 October 1582.
   */
  private static boolean isSkippedWrongly(double value, DataType type) {
    if (type == DateType$.MODULE$) {
      return value < DAYS_OF_1900;
    }
    if (type == TimestampType$.MODULE$) {
      return value < DAYS_OF_1900 * MICROS_OF_DAY;
    }
    return RowHash.isFloating(type) && (value == 0 || Double.isNaN(value));
  }

  private int place(String name) {
    for (int i = 0; i < columns.size(); i++) {
      if (((Attribute) columns.get(i)).name().equals(name)) {
        return i;
      }
    }
    throw new IllegalStateException("no column " + name + " in " + columns);
  }
}
