package headwater;

import java.lang.reflect.Array;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.IdentityHashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import com.fasterxml.jackson.databind.ObjectMapper;
import org.apache.spark.sql.execution.metric.SQLMetric;

/**
 * Reads facts about all nodes of a tree in one call. Each call through the gateway costs a round trip, and a plan has
 * hundreds of nodes; so Python states once which getters it wants of which class, and gets one JSON text.
 *
 * The queries: {"children": {class: [path…]}, "facts": {class: {key: path}}}; class is the simple name of the node's
 * class or of a superclass, or "*". A path is "relation.location.rootPaths"; a step may have one text argument,
 * "get('path')", "@name" is a field that has no getter, and "*" goes into each element. Options are unwrapped on the way;
 * whatever does not exist is null.
 *
 * Janino, the compiler that Spark brings, compiles this file: it supports no generics and no lambdas.
 */
public final class PlanFacts {
  /** By class, the getters that were looked up: looking one up costs far more than calling it. */
  private static final Map GETTERS = new ConcurrentHashMap();
  private static final Object NONE = new Object();
  private static final int MAX_ELEMENTS = 20000;
  private final ObjectMapper json = new ObjectMapper();
  private final Map children;
  private final Map facts;

  public PlanFacts(String text) throws Exception {
    Map queries = (Map) json.readValue(text, Map.class);
    children = (Map) queries.get("children");
    facts = (Map) queries.get("facts");
  }

  /** Every node from the root down, parents first: its class, the index of its parent in the list, and its facts. */
  public String collectFacts(Object root, int maxNodes) throws Exception {
    List nodes = new ArrayList();
    IdentityHashMap visited = new IdentityHashMap();
    ArrayDeque open = new ArrayDeque();
    open.push(new Object[] {root, Integer.valueOf(-1)});
    while (!open.isEmpty() && nodes.size() < maxNodes) {
      Object[] next = (Object[]) open.pop();
      Object node = next[0];
      if (node == null || visited.put(node, node) != null) {
        continue;
      }
      Integer index = Integer.valueOf(nodes.size());
      nodes.add(describe(node, next[1]));
      List nodeChildren = childrenOf(node);
      for (int i = nodeChildren.size() - 1; i >= 0; i--) {
        open.push(new Object[] {nodeChildren.get(i), index});
      }
    }
    return json.writeValueAsString(nodes);
  }

  private Map describe(Object node, Object parent) {
    Map nodeFacts = new LinkedHashMap();
    nodeFacts.put("class", node.getClass().getSimpleName());
    nodeFacts.put("parent", parent);
    List queries = queriesFor(facts, node);
    for (int i = 0; i < queries.size(); i++) {
      Iterator entries = ((Map) queries.get(i)).entrySet().iterator();
      while (entries.hasNext()) {
        Map.Entry entry = (Map.Entry) entries.next();
        Object value = fact(node, (String) entry.getValue());
        if (value != null && !nodeFacts.containsKey(entry.getKey())) {
          nodeFacts.put(entry.getKey(), value);
        }
      }
    }
    return nodeFacts;
  }

  private List childrenOf(Object node) throws Exception {
    List nodeChildren = new ArrayList();
    List queries = queriesFor(children, node);
    for (int i = 0; i < queries.size(); i++) {
      List paths = (List) queries.get(i);
      for (int j = 0; j < paths.size(); j++) {
        collect(follow(node, (String) paths.get(j)), nodeChildren);
      }
    }
    return nodeChildren;
  }

  /** The elements of a Scala or Java collection or of an array. */
  public static List elements(Object collection) {
    List result = new ArrayList();
    collect(collection, result);
    return result;
  }

  private static void collect(Object value, List elements) {
    if (value instanceof scala.collection.Iterable) {
      scala.collection.Iterator iterator = ((scala.collection.Iterable) value).iterator();
      while (iterator.hasNext()) {
        collect(iterator.next(), elements);
      }
    } else if (value instanceof Collection) {
      Iterator iterator = ((Collection) value).iterator();
      while (iterator.hasNext()) {
        collect(iterator.next(), elements);
      }
    } else if (value instanceof Object[]) {
      Object[] array = (Object[]) value;
      for (int i = 0; i < array.length; i++) {
        collect(array[i], elements);
      }
    } else if (value != null) {
      elements.add(value);
    }
  }

  /** The queries for the node's class, for its superclasses, and for every class. */
  private static List queriesFor(Map queriesByClass, Object node) {
    List queries = new ArrayList();
    for (Class type = node.getClass(); type != null; type = type.getSuperclass()) {
      Object query = queriesByClass.get(type.getSimpleName());
      if (query != null) {
        queries.add(query);
      }
    }
    if (queriesByClass.containsKey("*")) {
      queries.add(queriesByClass.get("*"));
    }
    return queries;
  }

  private static Object fact(Object node, String path) {
    try {
      return plain(follow(node, path));
    } catch (Throwable error) {
      return null; // another version, or a source without it: only this fact is missing
    }
  }

  /** The object at the end of the path, or null if a step does not exist. */
  public static Object follow(Object from, String path) throws Exception {
    return step(from, steps(path), 0);
  }

  private static Object step(Object from, List steps, int index) throws Exception {
    Object current = unwrapOption(from);
    if (current == null || index == steps.size()) {
      return current;
    }
    String name = (String) steps.get(index);
    if (!name.equals("*")) {
      return step(call(current, name), steps, index + 1);
    }
    List values = elements(current);
    List result = new ArrayList();
    for (int i = 0; i < values.size() && i < MAX_ELEMENTS; i++) {
      result.add(step(values.get(i), steps, index + 1));
    }
    return result;
  }

  /** Steps are separated by dots, except within the quotes of an argument. */
  private static List steps(String path) {
    List result = new ArrayList();
    boolean quoted = false;
    int from = 0;
    for (int i = 0; i < path.length(); i++) {
      if (path.charAt(i) == '\'') {
        quoted = !quoted;
      } else if (path.charAt(i) == '.' && !quoted) {
        result.add(path.substring(from, i));
        from = i + 1;
      }
    }
    result.add(path.substring(from));
    return result;
  }

  private static Object call(Object target, String step) throws Exception {
    if (step.startsWith("@")) {
      return field(target, step.substring(1));
    }
    int bracket = step.indexOf("('");
    String name = bracket < 0 ? step : step.substring(0, bracket);
    Object[] arguments = bracket < 0 ? new Object[0] : new Object[] {step.substring(bracket + 2, step.length() - 2)};
    Method getter = getter(target.getClass(), name, arguments.length);
    return getter == null ? null : invoke(getter, target, arguments);
  }

  private static Object field(Object target, String name) throws Exception {
    Class type = target.getClass();
    while (type != null) {
      Field[] fields = type.getDeclaredFields();
      for (int i = 0; i < fields.length; i++) {
        if (fields[i].getName().equals(name)) {
          fields[i].setAccessible(true);
          return fields[i].get(target);
        }
      }
      type = type.getSuperclass();
    }
    return null;
  }

  private static Method getter(Class type, String name, int arguments) {
    Map getters = (Map) GETTERS.get(type);
    if (getters == null) {
      getters = new ConcurrentHashMap();
      GETTERS.put(type, getters);
    }
    String key = arguments + name;
    Object getter = getters.get(key);
    if (getter == null) {
      getter = find(type, name, arguments);
      getters.put(key, getter == null ? NONE : getter);
    }
    return getter instanceof Method ? (Method) getter : null;
  }

  private static Method find(Class type, String name, int arguments) {
    Method[] methods = type.getMethods();
    for (int i = 0; i < methods.length; i++) {
      Class[] parameters = methods[i].getParameterTypes();
      boolean fits = parameters.length == arguments && (arguments == 0 || parameters[0].isAssignableFrom(String.class));
      if (fits && methods[i].getName().equals(name)) {
        try {
          methods[i].setAccessible(true); // a public method of a class that is not public
        } catch (RuntimeException closed) {
          // a class of the Java runtime: its public methods need no opening
        }
        return methods[i];
      }
    }
    return null;
  }

  private static Object invoke(Method method, Object target, Object[] arguments) throws Exception {
    try {
      return method.invoke(target, arguments);
    } catch (InvocationTargetException failed) {
      throw new Exception(failed.getCause());
    }
  }

  private static Object unwrapOption(Object value) {
    Object inner = value;
    while (inner instanceof scala.Option) {
      inner = ((scala.Option) inner).isEmpty() ? null : ((scala.Option) inner).get();
    }
    return inner;
  }

  /** The value as JSON has it: anything that JSON has no type for becomes its text. */
  public static Object plain(Object value) {
    Object inner = unwrapOption(value);
    if (inner == null || inner instanceof String || inner instanceof Number || inner instanceof Boolean) {
      return inner;
    }
    if (inner instanceof SQLMetric) {
      return metric(inner);
    }
    if (inner instanceof scala.collection.Map) {
      Map entries = new LinkedHashMap();
      scala.collection.Iterator iterator = ((scala.collection.Map) inner).iterator();
      while (iterator.hasNext()) {
        scala.Tuple2 entry = (scala.Tuple2) iterator.next();
        entries.put(String.valueOf(entry._1()), plain(entry._2()));
      }
      return entries;
    }
    if (inner instanceof Map) {
      Map entries = new LinkedHashMap();
      Iterator iterator = ((Map) inner).entrySet().iterator();
      while (iterator.hasNext()) {
        Map.Entry entry = (Map.Entry) iterator.next();
        entries.put(String.valueOf(entry.getKey()), plain(entry.getValue()));
      }
      return entries;
    }
    if (inner instanceof scala.collection.Iterable || inner instanceof Collection) {
      return plainList(elements(inner));
    }
    if (inner.getClass().isArray()) {
      List values = new ArrayList();
      for (int i = 0; i < Array.getLength(inner); i++) {
        values.add(Array.get(inner, i));
      }
      return plainList(values);
    }
    return inner instanceof Class ? ((Class) inner).getName() : inner.toString();
  }

  private static List plainList(List values) {
    List result = new ArrayList();
    for (int i = 0; i < values.size() && i < MAX_ELEMENTS; i++) {
      result.add(plain(values.get(i)));
    }
    return result;
  }

  private static Map metric(Object metric) {
    Map fields = new LinkedHashMap();
    try {
      fields.put("value", call(metric, "value"));
      fields.put("type", call(metric, "metricType"));
    } catch (Exception unreadable) {
      // left empty: a metric without a value
    }
    return fields;
  }
}
