package headwater;

import java.lang.reflect.Method;

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
}
