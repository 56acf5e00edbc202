package headwater;

import java.io.InvalidObjectException;
import java.io.Serializable;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import org.apache.spark.sql.catalyst.trees.TreeNode;

/**
 * A serialized node of a plan: the name of its class and its constructor arguments. Java's own serialization, of
 * fields, would include cached state of the node: other plans, lambdas, positions in the user's program. And it can
 * write subqueries that it cannot read.
 *
 * Stored plans contain this class by its name and its fields: neither may change.
 */
public final class Part implements Serializable {
  private static final long serialVersionUID = 1L;
  private static final String NOT_LISTED = ", which is not on the list of what plans may hold";

  private final String kind;
  private final Object[] given;

  private Part(String kind, Object[] given) {
    this.kind = kind;
    this.given = given;
  }

  public static Part of(TreeNode node) throws InvalidObjectException {
    check(node.getClass());
    List given = new ArrayList();
    add(((scala.Product) node).productIterator(), given);
    try {
      Method otherArguments = method(node.getClass(), "otherCopyArgs");
      otherArguments.setAccessible(true);
      add(((scala.collection.Iterable) otherArguments.invoke(node, new Object[0])).iterator(), given);
    } catch (Exception unknown) {
      throw new InvalidObjectException(node.getClass().getName() + ", whose constructor arguments are not accessible");
    }
    check(node.getClass(), given.toArray());
    return new Part(node.getClass().getName(), given.toArray());
  }

  public Object node(Map constructors) throws InvalidObjectException {
    try {
      if (given.length == 0 && kind.endsWith("$")) { // a Scala object is a singleton
        return single();
      }
      Constructor constructor = (Constructor) constructors.get(kind);
      if (constructor == null || !fits(constructor, given)) {
        constructor = constructor(listedClass(kind), given);
        constructors.put(kind, constructor);
      }
      check(constructor.getDeclaringClass(), given);
      return constructor.newInstance(given);
    } catch (InvalidObjectException refused) {
      throw refused;
    } catch (InvocationTargetException refused) {
      throw new InvalidObjectException(kind + ", which cannot be made: " + refused.getCause());
    } catch (Exception unknown) {
      throw new InvalidObjectException(kind + ", which this Spark cannot make: " + unknown);
    }
  }

  private Object single() throws Exception {
    return listedClass(kind).getField("MODULE$").get(null);
  }

  private static Class listedClass(String kind) throws Exception {
    Class listed = Class.forName(kind, false, Thread.currentThread().getContextClassLoader());
    check(listed);
    return listed;
  }

  private static void check(Class kind) throws InvalidObjectException {
    if (!PlanClasses.isNode(kind)) {
      throw new InvalidObjectException(kind.getName() + NOT_LISTED);
    }
  }

  private static void check(Class kind, Object[] given) throws InvalidObjectException {
    for (int i = 0; i < given.length; i++) {
      if (!PlanClasses.isArgument(kind, given[i])) {
        throw new InvalidObjectException(kind.getName() + " with a text that it never has");
      }
    }
  }

  private static void add(scala.collection.Iterator iterator, List given) {
    while (iterator.hasNext()) {
      Object next = iterator.next();
      given.add(next);
    }
  }

  private static Method method(Class kind, String name) throws NoSuchMethodException {
    for (Class above = kind; above != null; above = above.getSuperclass()) {
      try {
        return above.getDeclaredMethod(name, new Class[0]);
      } catch (NoSuchMethodException higher) {
        // continue with the superclass
      }
    }
    throw new NoSuchMethodException(name);
  }

  private static Constructor constructor(Class kind, Object[] given) throws NoSuchMethodException {
    Constructor[] constructors = kind.getConstructors();
    for (int i = 0; i < constructors.length; i++) {
      if (fits(constructors[i], given)) {
        return constructors[i];
      }
    }
    throw new NoSuchMethodException(kind.getName() + " from " + given.length + " arguments");
  }

  private static boolean fits(Constructor constructor, Object[] given) {
    Class[] takes = constructor.getParameterTypes();
    if (takes.length != given.length) {
      return false;
    }
    for (int i = 0; i < takes.length; i++) {
      Class type = takes[i].isPrimitive() ? (Class) BOXES.get(takes[i]) : takes[i];
      if (given[i] == null ? takes[i].isPrimitive() : !type.isInstance(given[i])) {
        return false;
      }
    }
    return true;
  }

  private static final Map BOXES = boxes();

  private static Map boxes() {
    Map boxes = new HashMap();
    boxes.put(Boolean.TYPE, Boolean.class);
    boxes.put(Byte.TYPE, Byte.class);
    boxes.put(Character.TYPE, Character.class);
    boxes.put(Short.TYPE, Short.class);
    boxes.put(Integer.TYPE, Integer.class);
    boxes.put(Long.TYPE, Long.class);
    boxes.put(Float.TYPE, Float.class);
    boxes.put(Double.TYPE, Double.class);
    return boxes;
  }
}
