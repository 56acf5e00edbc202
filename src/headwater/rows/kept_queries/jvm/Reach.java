package headwater;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;

/** Reaching what not every version of Spark, or not every source, has in the same way. */
public final class Reach {
  private Reach() {}

  /** What a getter answers; null if it is not there or does not answer. */
  public static Object call(Object here, String name) {
    for (Class kind = here == null ? null : here.getClass(); kind != null; kind = kind.getSuperclass()) {
      try {
        Method getter = kind.getDeclaredMethod(name, new Class[0]);
        getter.setAccessible(true);
        return getter.invoke(here, new Object[0]);
      } catch (NoSuchMethodException higher) {
        // the class above
      } catch (Exception silent) {
        return null;
      }
    }
    return null;
  }

  /** The elements of whatever kind of collection it is. */
  public static List each(Object found) {
    if (found instanceof Object[]) {
      return Arrays.asList((Object[]) found);
    }
    List all = new ArrayList();
    if (found instanceof Collection) {
      all.addAll((Collection) found);
    } else if (found != null) {
      scala.collection.Iterator each = found instanceof scala.collection.Iterator
          ? (scala.collection.Iterator) found : ((scala.collection.Iterable) found).iterator();
      while (each.hasNext()) {
        all.add(each.next());
      }
    }
    return all;
  }
}
