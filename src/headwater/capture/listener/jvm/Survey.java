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
 * Asks many questions of a whole tree in one call. Each call through the gateway costs a round trip, and a plan has
 * hundreds of nodes; so Python says once what it wants to know of which class, as paths of getters, and gets one JSON text.
 *
 * The questions: {"children": {class: [path…]}, "facts": {class: {key: path}}}; class is a simple name, of the node
 * or of a class above it, or "*". A path is "relation.location.rootPaths"; a step may take one text, "get('path')",
 * "@name" is a field that has no getter, and "*" goes into each element. Options are opened on the way; whatever is not
 * there is null.
 */
public final class Survey {
  /** By class, the getters found so far: to look for one costs far more than to call it. */
  private static final Map GETTERS = new ConcurrentHashMap();
  private static final Object NONE = new Object();
  private static final int MOST_ELEMENTS = 20000;
  private final ObjectMapper json = new ObjectMapper();
  private final Map children;
  private final Map facts;

  public Survey(String questions) throws Exception {
    Map asked = (Map) json.readValue(questions, Map.class);
    children = (Map) asked.get("children");
    facts = (Map) asked.get("facts");
  }

  /** Every node from the root down, parents first: its class, the place of its parent in the list, and the facts. */
  public String of(Object root, int mostNodes) throws Exception {
    List answer = new ArrayList();
    IdentityHashMap seen = new IdentityHashMap();
    ArrayDeque open = new ArrayDeque();
    open.push(new Object[] {root, Integer.valueOf(-1)});
    while (!open.isEmpty() && answer.size() < mostNodes) {
      Object[] next = (Object[]) open.pop();
      Object node = next[0];
      if (node == null || seen.put(node, node) != null) {
        continue;
      }
      Integer place = Integer.valueOf(answer.size());
      answer.add(describe(node, next[1]));
      List below = childrenOf(node);
      for (int i = below.size() - 1; i >= 0; i--) {
        open.push(new Object[] {below.get(i), place});
      }
    }
    return json.writeValueAsString(answer);
  }

  private Map describe(Object node, Object parent) {
    Map said = new LinkedHashMap();
    said.put("class", node.getClass().getSimpleName());
    said.put("parent", parent);
    List asked = of(facts, node);
    for (int i = 0; i < asked.size(); i++) {
      Iterator entries = ((Map) asked.get(i)).entrySet().iterator();
      while (entries.hasNext()) {
        Map.Entry entry = (Map.Entry) entries.next();
        Object value = ask(node, (String) entry.getValue());
        if (value != null && !said.containsKey(entry.getKey())) {
          said.put(entry.getKey(), value);
        }
      }
    }
    return said;
  }

  private List childrenOf(Object node) throws Exception {
    List below = new ArrayList();
    List asked = of(children, node);
    for (int i = 0; i < asked.size(); i++) {
      List paths = (List) asked.get(i);
      for (int j = 0; j < paths.size(); j++) {
        collect(follow(node, (String) paths.get(j)), below);
      }
    }
    return below;
  }

  /** The elements of whatever kind of collection it is. */
  public static List each(Object found) {
    List all = new ArrayList();
    collect(found, all);
    return all;
  }

  private static void collect(Object found, List below) {
    if (found instanceof scala.collection.Iterable) {
      scala.collection.Iterator each = ((scala.collection.Iterable) found).iterator();
      while (each.hasNext()) {
        collect(each.next(), below);
      }
    } else if (found instanceof Collection) {
      Iterator each = ((Collection) found).iterator();
      while (each.hasNext()) {
        collect(each.next(), below);
      }
    } else if (found instanceof Object[]) {
      Object[] each = (Object[]) found;
      for (int i = 0; i < each.length; i++) {
        collect(each[i], below);
      }
    } else if (found != null) {
      below.add(found);
    }
  }

  /** What is asked of the node's class, of the classes above it, and of everything. */
  private static List of(Map questions, Object node) {
    List found = new ArrayList();
    for (Class kind = node.getClass(); kind != null; kind = kind.getSuperclass()) {
      Object asked = questions.get(kind.getSimpleName());
      if (asked != null) {
        found.add(asked);
      }
    }
    if (questions.containsKey("*")) {
      found.add(questions.get("*"));
    }
    return found;
  }

  private static Object ask(Object node, String path) {
    try {
      return plain(follow(node, path));
    } catch (Throwable unanswered) {
      return null; // another version, or a source that cannot say: the fact is missing, nothing else
    }
  }

  /** The object at the end of the path, or null where a step is not there. */
  public static Object follow(Object from, String path) throws Exception {
    return step(from, steps(path), 0);
  }

  private static Object step(Object from, List steps, int at) throws Exception {
    Object here = open(from);
    if (here == null || at == steps.size()) {
      return here;
    }
    String name = (String) steps.get(at);
    if (!name.equals("*")) {
      return step(call(here, name), steps, at + 1);
    }
    List each = each(here);
    List found = new ArrayList();
    for (int i = 0; i < each.size() && i < MOST_ELEMENTS; i++) {
      found.add(step(each.get(i), steps, at + 1));
    }
    return found;
  }

  /** Steps are parted by points, except within the quotes of an argument. */
  private static List steps(String path) {
    List found = new ArrayList();
    boolean quoted = false;
    int from = 0;
    for (int i = 0; i < path.length(); i++) {
      if (path.charAt(i) == '\'') {
        quoted = !quoted;
      } else if (path.charAt(i) == '.' && !quoted) {
        found.add(path.substring(from, i));
        from = i + 1;
      }
    }
    found.add(path.substring(from));
    return found;
  }

  private static Object call(Object here, String step) throws Exception {
    if (step.startsWith("@")) {
      return field(here, step.substring(1));
    }
    int bracket = step.indexOf("('");
    String name = bracket < 0 ? step : step.substring(0, bracket);
    Object[] with = bracket < 0 ? new Object[0] : new Object[] {step.substring(bracket + 2, step.length() - 2)};
    Method getter = getter(here.getClass(), name, with.length);
    return getter == null ? null : invoke(getter, here, with);
  }

  private static Object field(Object here, String name) throws Exception {
    Class kind = here.getClass();
    while (kind != null) {
      Field[] fields = kind.getDeclaredFields();
      for (int i = 0; i < fields.length; i++) {
        if (fields[i].getName().equals(name)) {
          fields[i].setAccessible(true);
          return fields[i].get(here);
        }
      }
      kind = kind.getSuperclass();
    }
    return null;
  }

  private static Method getter(Class kind, String name, int arguments) {
    Map known = (Map) GETTERS.get(kind);
    if (known == null) {
      known = new ConcurrentHashMap();
      GETTERS.put(kind, known);
    }
    String key = arguments + name;
    Object found = known.get(key);
    if (found == null) {
      found = find(kind, name, arguments);
      known.put(key, found == null ? NONE : found);
    }
    return found instanceof Method ? (Method) found : null;
  }

  private static Method find(Class kind, String name, int arguments) {
    Method[] methods = kind.getMethods();
    for (int i = 0; i < methods.length; i++) {
      Class[] takes = methods[i].getParameterTypes();
      boolean fits = takes.length == arguments && (arguments == 0 || takes[0].isAssignableFrom(String.class));
      if (fits && methods[i].getName().equals(name)) {
        try {
          methods[i].setAccessible(true); // a public method of a class that is not
        } catch (RuntimeException closed) {
          // a class of the Java runtime: its public methods need no opening
        }
        return methods[i];
      }
    }
    return null;
  }

  private static Object invoke(Method method, Object here, Object[] with) throws Exception {
    try {
      return method.invoke(here, with);
    } catch (InvocationTargetException failed) {
      throw new Exception(failed.getCause());
    }
  }

  private static Object open(Object value) {
    Object here = value;
    while (here instanceof scala.Option) {
      here = ((scala.Option) here).isEmpty() ? null : ((scala.Option) here).get();
    }
    return here;
  }

  /** The value in terms of JSON: what has no form of its own there becomes its text. */
  public static Object plain(Object value) {
    Object here = open(value);
    if (here == null || here instanceof String || here instanceof Number || here instanceof Boolean) {
      return here;
    }
    if (here instanceof SQLMetric) {
      return metric(here);
    }
    if (here instanceof scala.collection.Map) {
      Map said = new LinkedHashMap();
      scala.collection.Iterator each = ((scala.collection.Map) here).iterator();
      while (each.hasNext()) {
        scala.Tuple2 entry = (scala.Tuple2) each.next();
        said.put(String.valueOf(entry._1()), plain(entry._2()));
      }
      return said;
    }
    if (here instanceof Map) {
      Map said = new LinkedHashMap();
      Iterator each = ((Map) here).entrySet().iterator();
      while (each.hasNext()) {
        Map.Entry entry = (Map.Entry) each.next();
        said.put(String.valueOf(entry.getKey()), plain(entry.getValue()));
      }
      return said;
    }
    if (here instanceof scala.collection.Iterable || here instanceof Collection) {
      return plainList(each(here));
    }
    if (here.getClass().isArray()) {
      List each = new ArrayList();
      for (int i = 0; i < Array.getLength(here); i++) {
        each.add(Array.get(here, i));
      }
      return plainList(each);
    }
    return here instanceof Class ? ((Class) here).getName() : here.toString();
  }

  private static List plainList(List each) {
    List said = new ArrayList();
    for (int i = 0; i < each.size() && i < MOST_ELEMENTS; i++) {
      said.add(plain(each.get(i)));
    }
    return said;
  }

  private static Map metric(Object metric) {
    Map said = new LinkedHashMap();
    try {
      said.put("value", call(metric, "value"));
      said.put("type", call(metric, "metricType"));
    } catch (Exception unreadable) {
      // left empty: a metric without a value
    }
    return said;
  }
}
