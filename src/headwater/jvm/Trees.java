package headwater;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;

import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.NamedExpression$;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.types.BooleanType$;
import org.apache.spark.sql.types.DataType;

/** Access to Catalyst's trees from Java that works for every version of Spark and Scala. */
public final class Trees {
  private final Object session;
  private final Method ofRows;

  public Trees(Object session) throws Exception {
    this.session = session;
    this.ofRows = ofRows(session);
  }

  /** Since Spark 4 the classic Dataset is in a package of its own. */
  private static Method ofRows(Object session) throws Exception {
    String sessions = session.getClass().getName();
    ClassLoader loader = session.getClass().getClassLoader();
    Class frames = Class.forName(sessions.substring(0, sessions.lastIndexOf('.')) + ".Dataset", true, loader);
    return frames.getMethod("ofRows", new Class[] {session.getClass(), LogicalPlan.class});
  }

  public Object frame(LogicalPlan plan) throws Exception {
    return invoke(ofRows, null, new Object[] {session, plan});
  }

  public Object session() {
    return session;
  }

  public static LogicalPlan plan(Object frame) throws Exception {
    Object execution = call(frame, "queryExecution");
    return (LogicalPlan) call(execution, "analyzed");
  }

  /** The leaf with further columns, which may be hidden ones such as `_metadata`. */
  public LogicalPlan select(LogicalPlan leaf, List texts) throws Exception {
    Object frame = frame(leaf);
    Method select = frame.getClass().getMethod("selectExpr", new Class[] {String[].class});
    String[] all = new String[texts.size() + 1];
    all[0] = "*";
    for (int i = 0; i < texts.size(); i++) {
      all[i + 1] = (String) texts.get(i);
    }
    return plan(invoke(select, frame, new Object[] {all}));
  }

  public static Object call(Object of, String name) throws Exception {
    Method method = of.getClass().getMethod(name, new Class[0]);
    method.setAccessible(true); // a public method of a class that is not public
    return invoke(method, of, new Object[0]);
  }

  private static Object invoke(Method method, Object of, Object[] with) throws Exception {
    try {
      return method.invoke(of, with);
    } catch (InvocationTargetException failed) {
      if (failed.getCause() instanceof Exception) {
        throw (Exception) failed.getCause();
      }
      throw failed;
    }
  }

  /** The elements of an option, an iterator, an array, or a Scala or Java collection, as a new list; of null, none. */
  public static List list(Object collection) {
    List all = new ArrayList();
    if (collection instanceof Object[]) {
      all.addAll(Arrays.asList((Object[]) collection));
    } else if (collection instanceof Collection) {
      all.addAll((Collection) collection);
    } else if (collection != null) {
      scala.collection.Iterator iterator = iterator(collection);
      while (iterator.hasNext()) {
        all.add(iterator.next());
      }
    }
    return all;
  }

  private static scala.collection.Iterator iterator(Object collection) {
    if (collection instanceof scala.Option) {
      return ((scala.Option) collection).iterator();
    }
    return collection instanceof scala.collection.Iterator
        ? (scala.collection.Iterator) collection
        : ((scala.collection.Iterable) collection).iterator();
  }

  /** A Scala list, immutable in both Scala versions. */
  public static scala.collection.immutable.List seq(List elements) {
    scala.collection.immutable.List all = (scala.collection.immutable.List) scala.collection.immutable.Nil$.MODULE$;
    for (int i = elements.size() - 1; i >= 0; i--) {
      all = new scala.collection.immutable.$colon$colon(elements.get(i), all);
    }
    return all;
  }

  /** A copy of the node with another field, by its position: the number of fields differs between versions. */
  public static LogicalPlan with(LogicalPlan node, int place, Object value) {
    Object[] fields = fields(node);
    fields[place] = value;
    return (LogicalPlan) node.makeCopy(fields);
  }

  public static Object[] fields(LogicalPlan node) {
    List fields = list(node.productIterator().toList());
    return fields.toArray();
  }

  public static LogicalPlan withChildren(LogicalPlan node, List children) {
    return (LogicalPlan) node.withNewChildren(seq(children));
  }

  public static Alias alias(Expression expression, String name) {
    return new Alias(
        expression,
        name,
        NamedExpression$.MODULE$.newExprId(),
        seq(new ArrayList()),
        scala.Option.apply(null),
        seq(new ArrayList()));
  }

  public static Literal trueLiteral() {
    return new Literal(Boolean.TRUE, BooleanType$.MODULE$);
  }

  public static Literal nullLiteral(DataType type) {
    return new Literal(null, type);
  }

  /** The current attributes of these columns in the plan: joins make them nullable. */
  public static List outputs(LogicalPlan plan, List attributes) {
    List outputs = list(plan.output());
    List columns = new ArrayList();
    for (int i = 0; i < attributes.size(); i++) {
      columns.add(output(outputs, (Attribute) attributes.get(i)));
    }
    return columns;
  }

  private static Attribute output(List outputs, Attribute wanted) {
    for (int i = 0; i < outputs.size(); i++) {
      if (((Attribute) outputs.get(i)).exprId().equals(wanted.exprId())) {
        return (Attribute) outputs.get(i);
      }
    }
    throw new IllegalStateException(wanted + " is not in the output of the plan");
  }

  public static String name(Object node) {
    return node.getClass().getSimpleName();
  }
}
