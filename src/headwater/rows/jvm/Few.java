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

/** Rows of a frame, each once, brought here if they are few. They do not leave the JVM: values stay what they are. */
public final class Few {
  private final Object frame;
  private final List rows;

  public Few(Trees trees, Object wanted, int most) throws Exception {
    List found = most == 0 ? null : distinct(trees, wanted, most);
    if (found == null || found.size() > most) {
      rows = null;
      frame = Trees.call(wanted, "distinct");
    } else {
      rows = found;
      Object session = trees.session();
      Method make = session.getClass().getMethod("createDataFrame", new Class[] {List.class, StructType.class});
      frame = make.invoke(session, new Object[] {found, Trees.call(wanted, "schema")});
    }
  }

  public static List collected(Object wanted, int most) throws Exception {
    Method limit = wanted.getClass().getMethod("limit", new Class[] {Integer.TYPE});
    return (List) Trees.call(limit.invoke(wanted, new Object[] {Integer.valueOf(most)}), "collectAsList");
  }

  /** Each row once. Every partition stops when it alone has too many, and all of them are asked by one job. */
  private static List distinct(Trees trees, Object wanted, int most) throws Exception {
    LogicalPlan plan = Trees.plan(wanted);
    boolean here = Trees.name(Trees.call(Trees.call(wanted, "queryExecution"), "optimizedPlan")).equals("LocalRelation");
    Expression enough = new Literal(Integer.valueOf(most + 1), IntegerType$.MODULE$);
    Object asked = here ? wanted : trees.frame(new LocalLimit(enough, plan));
    return new ArrayList(new LinkedHashSet((List) Trees.call(asked, "collectAsList")));
  }

  public boolean few() {
    return rows != null;
  }

  public Object frame() {
    return frame;
  }

  /** The plan, restricted to rows whose key is among the values of that column. */
  public LogicalPlan narrowed(LogicalPlan plan, Attribute key, Attribute column) {
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
    Object[] each = values.toArray();
    for (int i = 0; i < each.length; i++) {
      if (each[i] != null) {
        literals.add(Literal$.MODULE$.create(each[i], key.dataType()));
      }
    }
    Expression condition = new In(key, Trees.seq(literals));
    if (values.contains(null)) {
      condition = new Or(condition, new IsNull(key));
    }
    return new Filter(condition, plan);
  }
}
