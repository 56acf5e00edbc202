package headwater;

import java.lang.reflect.Method;
import java.util.LinkedHashMap;
import java.util.Map;

import com.fasterxml.jackson.databind.ObjectMapper;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.WithCTE;

/** The query below a write command. */
public final class WrittenQuery {
  private static final String[] GETTERS = {"query", "data", "plan"};
  private static final String[] OPTIONS = {"options", "writeOptions"};
  private final LogicalPlan plan;
  private final Object command;

  public WrittenQuery(Object command) throws Exception {
    this.command = command;
    plan = queryOf(command);
  }

  /** The options of the writer as JSON; none if the command does not show them. */
  public String options() throws Exception {
    Map options = new LinkedHashMap();
    for (int i = 0; i < OPTIONS.length; i++) {
      Object given = Reflection.call(command, OPTIONS[i]);
      if (given instanceof scala.collection.Map) {
        scala.collection.Iterator iterator = ((scala.collection.Map) given).iterator();
        while (iterator.hasNext()) {
          scala.Tuple2 entry = (scala.Tuple2) iterator.next();
          options.put(String.valueOf(entry._1()), String.valueOf(entry._2()));
        }
      }
    }
    return new ObjectMapper().writeValueAsString(options);
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
