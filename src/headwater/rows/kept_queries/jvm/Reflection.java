package headwater;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;

/** Access to members that differ between versions of Spark, or between sources. */
public final class Reflection {
  private Reflection() {}

  /** The value of a getter; null if it does not exist or fails. */
  public static Object call(Object target, String name) {
    for (Class kind = target == null ? null : target.getClass(); kind != null; kind = kind.getSuperclass()) {
      try {
        Method getter = kind.getDeclaredMethod(name, new Class[0]);
        getter.setAccessible(true);
        return getter.invoke(target, new Object[0]);
      } catch (NoSuchMethodException higher) {
        // continue with the superclass
      } catch (Exception silent) {
        return null;
      }
    }
    return null;
  }

  /** The elements of an array, a Java or a Scala collection. */
  public static List elements(Object collection) {
    if (collection instanceof Object[]) {
      return Arrays.asList((Object[]) collection);
    }
    List all = new ArrayList();
    if (collection instanceof Collection) {
      all.addAll((Collection) collection);
    } else if (collection != null) {
      scala.collection.Iterator iterator = collection instanceof scala.collection.Iterator
          ? (scala.collection.Iterator) collection : ((scala.collection.Iterable) collection).iterator();
      while (iterator.hasNext()) {
        all.add(iterator.next());
      }
    }
    return all;
  }
}
