package headwater;

import java.lang.reflect.Method;

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.WithCTE;

/** The query below a write command. */
public final class WrittenQuery {
  private static final String[] GETTERS = {"query", "data", "plan"};
  private final LogicalPlan plan;

  public WrittenQuery(Object command) throws Exception {
    plan = queryOf(command);
  }

  /** Null if the command does not show it. */
  public Object plan() {
    return plan;
  }

  public String schema() {
    return plan.schema().json();
  }

  private static LogicalPlan queryOf(Object command) throws Exception {
    if (command instanceof WithCTE) {
      LogicalPlan inner = queryOf(((WithCTE) command).plan());
      return inner == null ? null : new WithCTE(inner, ((WithCTE) command).cteDefs());
    }
    for (int i = 0; i < GETTERS.length; i++) {
      try {
        Method getter = command.getClass().getMethod(GETTERS[i], new Class[0]);
        Object query = getter.invoke(command, new Object[0]);
        if (query instanceof LogicalPlan) {
          return (LogicalPlan) query;
        }
      } catch (NoSuchMethodException another) {
        // the next name
      }
    }
    return null;
  }
}
