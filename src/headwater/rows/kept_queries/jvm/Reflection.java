package headwater;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;

/** Reaching what not every version of Spark, or not every source, has in the same way. */
public final class Reflection {
  private Reflection() {}

  /** What a getter answers; null if it is not there or does not answer. */
  public static Object call(Object target, String name) {
    for (Class kind = target == null ? null : target.getClass(); kind != null; kind = kind.getSuperclass()) {
      try {
        Method getter = kind.getDeclaredMethod(name, new Class[0]);
        getter.setAccessible(true);
        return getter.invoke(target, new Object[0]);
      } catch (NoSuchMethodException higher) {
        // the class above
      } catch (Exception silent) {
        return null;
      }
    }
    return null;
  }

  /** The elements of whatever kind of collection it is. */
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
