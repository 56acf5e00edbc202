package headwater;

import java.lang.reflect.Method;

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.WithCTE;

/** The query below a write command. */
public final class Query {
  private static final String[] NAMES = {"query", "data", "plan"};
  private final LogicalPlan plan;

  public Query(Object command) throws Exception {
    plan = below(command);
  }

  /** Null if the command does not show it. */
  public Object plan() {
    return plan;
  }

  public String schema() {
    return plan.schema().json();
  }

  private static LogicalPlan below(Object command) throws Exception {
    if (command instanceof WithCTE) {
      LogicalPlan inner = below(((WithCTE) command).plan());
      return inner == null ? null : new WithCTE(inner, ((WithCTE) command).cteDefs());
    }
    for (int i = 0; i < NAMES.length; i++) {
      try {
        Method getter = command.getClass().getMethod(NAMES[i], new Class[0]);
        Object found = getter.invoke(command, new Object[0]);
        if (found instanceof LogicalPlan) {
          return (LogicalPlan) found;
        }
      } catch (NoSuchMethodException another) {
        // the next name
      }
    }
    return null;
  }
}
