package headwater;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.ObjectOutputStream;
import java.io.OutputStream;
import java.io.Serializable;
import java.lang.reflect.Constructor;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.DeflaterOutputStream;

import org.apache.spark.api.java.function.FilterFunction;
import org.apache.spark.api.java.function.MapFunction;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.Literal$;
import org.apache.spark.sql.catalyst.expressions.NamedExpression$;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.Metadata;
import org.apache.spark.sql.types.ObjectType;

/** Plans that run code, and the stream of one. */
public final class Forge {
  private static final String OBJECTS = "org.apache.spark.sql.catalyst.expressions.objects.";
  private static final String EXPRESSIONS = "org.apache.spark.sql.catalyst.expressions.";
  private static final String OPERATORS = "org.apache.spark.sql.catalyst.plans.logical.";
  private final Object frame;
  private final String canary;

  public Forge(Object frame, String canary) {
    this.frame = frame;
    this.canary = canary;
  }

  /** The range with the gadget in place of its column. */
  public LogicalPlan plan(String gadget) throws Exception {
    Expression made = expression(gadget);
    if (made.dataType() instanceof ObjectType) { // no column; whether it is null is known without making it
      made = make(OBJECTS + "Invoke", new Object[] {made, "hashCode", DataTypes.IntegerType});
    }
    return new Project(nil().$colon$colon(named(made)), analyzed(frame));
  }

  private Expression expression(String gadget) throws Exception {
    Expression path = text(canary);
    if (gadget.equals("NewInstance")) {
      return instance(java.io.FileOutputStream.class, path);
    }
    if (gadget.equals("Invoke")) {
      return make(OBJECTS + "Invoke", new Object[] {instance(java.io.File.class, path), "createNewFile",
          DataTypes.BooleanType});
    }
    if (gadget.equals("StaticInvoke")) {
      java.io.File folder = new java.io.File(canary).getParentFile();
      scala.collection.immutable.List names = nil().$colon$colon(new Literal(folder, new ObjectType(java.io.File.class)))
          .$colon$colon(text(".tmp")).$colon$colon(text("canary"));
      return make(OBJECTS + "StaticInvoke", new Object[] {java.io.File.class, new ObjectType(java.io.File.class),
          "createTempFile", names});
    }
    if (gadget.equals("InitializeJavaBean")) {
      String setter = "toString(); new java.io.FileOutputStream(\"" + canary + "\").close(); new Object().equals";
      scala.collection.immutable.Map setters = (scala.collection.immutable.Map) scala.collection.immutable.Map$.MODULE$
          .empty().$plus(new scala.Tuple2(setter, path));
      return make(OBJECTS + "InitializeJavaBean", new Object[] {instance(Object.class, null), setters});
    }
    if (gadget.equals("TimestampAdd")) {
      String unit = "DAY\".concat(String.valueOf(new java.io.FileOutputStream(\"" + canary + "\"))) + \"";
      Expression time = make(EXPRESSIONS + "PreciseTimestampConversion", new Object[] {
          analyzed(frame).output().head(), DataTypes.LongType, DataTypes.TimestampType}); // of a row: not folded
      return make(EXPRESSIONS + "TimestampAdd", new Object[] {unit, Literal$.MODULE$.apply(Integer.valueOf(1)), time,
          new scala.Some("UTC")});
    }
    if (gadget.equals("lambda")) {
      return make(EXPRESSIONS + "ScalaUDF", new Object[] {lambda(), DataTypes.StringType, nil()});
    }
    return make(EXPRESSIONS + "ScalaUDF", new Object[] {new Touch(canary), DataTypes.StringType,
        nil().$colon$colon(Literal$.MODULE$.apply(Integer.valueOf(1)))});
  }

  /** One of Scala's own library, which every Spark has: it opens the canary for writing. In a stream a lambda is the
   *  names of a class and a method. */
  private Object lambda() throws Exception {
    Class kind = Class.forName("scala.sys.process.ProcessBuilderImpl$FileOutput");
    Object outer = scala.sys.process.ProcessBuilder$.MODULE$;
    Object built = kind.getConstructors()[0].newInstance(
        new Object[] {outer, new java.io.File(canary), Boolean.FALSE});
    return opening(built, kind, 3);
  }

  /** The function without parameters that an object holds, or a function that it holds. */
  private static Object opening(Object holder, Class kind, int deep) throws Exception {
    for (Class above = kind; above != null && deep > 0; above = above.getSuperclass()) {
      java.lang.reflect.Field[] fields = above.getDeclaredFields();
      for (int i = 0; i < fields.length; i++) {
        boolean function = scala.Function0.class.isAssignableFrom(fields[i].getType())
            || scala.Function1.class.isAssignableFrom(fields[i].getType());
        if (!function || java.lang.reflect.Modifier.isStatic(fields[i].getModifiers())) {
          continue;
        }
        fields[i].setAccessible(true);
        Object held = fields[i].get(holder);
        if (held instanceof scala.Function0) {
          return held;
        }
        Object within = held == null ? null : opening(held, held.getClass(), deep - 1);
        if (within != null) {
          return within;
        }
      }
    }
    return null;
  }

  /** A typed filter over the range: what is asked of each row is a function. */
  public LogicalPlan filter() throws Exception {
    java.lang.reflect.Method filter = frame.getClass().getMethod("filter", new Class[] {FilterFunction.class});
    return analyzed(filter.invoke(frame, new Object[] {new Sieve(canary)}));
  }

  /** What an encoder has in a plan: an expression that makes an object of a row, and one that takes it apart. */
  public LogicalPlan encoders() throws Exception {
    Object[] given = {"made", new ObjectType(java.io.FileOutputStream.class), Boolean.TRUE, Metadata.empty(),
        NamedExpression$.MODULE$.newExprId(), nil()};
    Expression made = make(EXPRESSIONS + "AttributeReference", given);
    Object read = construct(OPERATORS + "DeserializeToObject", new Object[] {
        instance(java.io.FileOutputStream.class, text(canary)), made, analyzed(frame)});
    Alias named = named(make(OBJECTS + "Invoke", new Object[] {made, "hashCode", DataTypes.IntegerType}));
    return (LogicalPlan) construct(OPERATORS + "SerializeFromObject", new Object[] {nil().$colon$colon(named), read});
  }

  private static Alias named(Expression made) {
    return new Alias(made, "id", NamedExpression$.MODULE$.newExprId(), nil(), (scala.Option) scala.None$.MODULE$, nil());
  }

  /** A typed map over the range: a function between a deserializer and a serializer. */
  public LogicalPlan map() throws Exception {
    java.lang.reflect.Method map = frame.getClass().getMethod("map",
        new Class[] {MapFunction.class, org.apache.spark.sql.Encoder.class});
    return analyzed(map.invoke(frame, new Object[] {new Touch(canary), Encoders.STRING()}));
  }

  private static Expression text(String value) {
    return new Literal(value, new ObjectType(String.class));
  }

  private static LogicalPlan analyzed(Object frame) throws Exception {
    Object execution = frame.getClass().getMethod("queryExecution", new Class[0]).invoke(frame, new Object[0]);
    return (LogicalPlan) execution.getClass().getMethod("analyzed", new Class[0]).invoke(execution, new Object[0]);
  }

  private static Expression instance(Class kind, Expression argument) throws Exception {
    scala.collection.immutable.List arguments = argument == null ? nil() : nil().$colon$colon(argument);
    Object[] given = {kind, arguments, nil(), Boolean.FALSE, new ObjectType(kind), scala.None$.MODULE$};
    return make(OBJECTS + "NewInstance", given);
  }

  /** By the longest constructor, with false, nothing and no elements for what is not given. */
  private static Object construct(String name, Object[] given) throws Exception {
    Constructor[] all = Class.forName(name).getConstructors();
    Constructor longest = all[0];
    for (int i = 1; i < all.length; i++) {
      if (all[i].getParameterTypes().length > longest.getParameterTypes().length) {
        longest = all[i];
      }
    }
    Object[] arguments = new Object[longest.getParameterTypes().length];
    for (int i = 0; i < arguments.length; i++) {
      Class kind = longest.getParameterTypes()[i];
      if (i < given.length) {
        arguments[i] = given[i];
      } else if (kind == Boolean.TYPE) {
        arguments[i] = Boolean.TRUE;
      } else if (kind == scala.Option.class) {
        arguments[i] = scala.None$.MODULE$;
      } else {
        arguments[i] = nil();
      }
    }
    return longest.newInstance(arguments);
  }

  private static Expression make(String name, Object[] given) throws Exception {
    return (Expression) construct(name, given);
  }

  private static scala.collection.immutable.List nil() {
    return (scala.collection.immutable.List) scala.collection.immutable.Nil$.MODULE$;
  }

  public byte[] packed(Object plan) throws Exception {
    ByteArrayOutputStream collected = new ByteArrayOutputStream();
    ObjectOutputStream out = new Unchecked(new DeflaterOutputStream(collected));
    out.writeObject(plan);
    out.close();
    return collected.toByteArray();
  }

  public String digest(byte[] packed) throws Exception {
    return PlanStream.digest(packed);
  }

  /** As a capture writes it, whatever it is. */
  private static final class Unchecked extends ObjectOutputStream {
    public Unchecked(OutputStream out) throws IOException {
      super(out);
      enableReplaceObject(true);
    }

    protected Object replaceObject(Object object) throws IOException {
      if (!(object instanceof TreeNode)) {
        return object;
      }
      try {
        List given = new ArrayList();
        scala.collection.Iterator each = ((scala.Product) object).productIterator();
        while (each.hasNext()) {
          given.add(each.next());
        }
        for (Class kind = object.getClass(); kind != null; kind = kind.getSuperclass()) {
          try {
            java.lang.reflect.Method more = kind.getDeclaredMethod("otherCopyArgs", new Class[0]);
            more.setAccessible(true);
            each = ((scala.collection.Iterable) more.invoke(object, new Object[0])).iterator();
            break;
          } catch (NoSuchMethodException higher) {
            // the class above
          }
        }
        while (each.hasNext()) {
          given.add(each.next());
        }
        Constructor part = Part.class.getDeclaredConstructor(new Class[] {String.class, Object[].class});
        part.setAccessible(true);
        return part.newInstance(new Object[] {object.getClass().getName(), given.toArray()});
      } catch (Exception unknown) {
        throw new IOException(String.valueOf(unknown));
      }
    }
  }

  /** A function that writes the canary. */
  public static final class Touch extends scala.runtime.AbstractFunction1 implements MapFunction, Serializable {
    private final String canary;

    public Touch(String canary) {
      this.canary = canary;
    }

    public Object apply(Object value) {
      try {
        new java.io.FileOutputStream(canary).close();
      } catch (IOException trouble) {
        throw new RuntimeException(trouble);
      }
      return null;
    }

    public Object call(Object value) {
      return apply(value);
    }
  }

  /** A condition that writes the canary. */
  public static final class Sieve implements FilterFunction, Serializable {
    private final String canary;

    public Sieve(String canary) {
      this.canary = canary;
    }

    public boolean call(Object value) {
      new Touch(canary).apply(value);
      return true;
    }
  }
}
