package headwater;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import org.apache.spark.sql.catalyst.plans.logical.Command;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Union;
import org.apache.spark.sql.execution.QueryExecution;

/** A command of an execution, for Python to ask: its plans, those of its steps, and its newest RDD. */
public final class Work {
  private final QueryExecution execution;
  private final int place; // among several commands, else -1
  private final List steps;
  private final Object rdd;

  private Work(QueryExecution execution, int place, List steps, Object rdd) {
    this.execution = execution;
    this.place = place;
    this.steps = steps;
    this.rdd = rdd;
  }

  public static List of(QueryExecution execution, List steps, Object rdd) throws Exception {
    List works = new ArrayList();
    if (areSeveral(execution.analyzed())) {
      for (int i = 0; i < Survey.each(execution.analyzed().children()).size(); i++) {
        works.add(new Work(execution, i, steps, rdd));
      }
    } else {
      works.add(new Work(execution, -1, steps, rdd));
    }
    return works;
  }

  /** `FROM … INSERT … INSERT …` */
  public static boolean areSeveral(LogicalPlan plan) {
    return plan instanceof Union && Survey.each(plan.children()).get(0) instanceof Command;
  }

  public Object analyzed() {
    return place < 0 ? execution.analyzed() : Survey.each(execution.analyzed().children()).get(place);
  }

  public Object sparkSession() {
    return execution.sparkSession();
  }

  public Object rdd() {
    return rdd;
  }

  /** Whether there is a physical plan. To ask for one that could not be made would make Spark try once more. */
  public boolean isPlanned() {
    if (!execution.tracker().phases().contains("planning")) {
      return false;
    }
    try {
      return execution.executedPlan() != null;
    } catch (Exception failure) {
      return false;
    }
  }

  /** The physical plan; where there were steps, theirs beside it. */
  public Object executedPlan() throws Exception {
    Object plan = execution.executedPlan();
    int several = place < 0 ? 0 : Survey.each(execution.analyzed().children()).size();
    while (several > 0) { // down to where the plan parts into its commands
      List below = Survey.each(Survey.follow(plan, "children"));
      plan = below.size() == several ? below.get(place) : below.get(0);
      several = below.size() == several ? 0 : several;
    }
    return steps.isEmpty() ? plan : new Together(plan, steps);
  }

  /** Plans side by side. */
  public static final class Together {
    private final List children = new ArrayList();

    private Together(Object plan, List steps) {
      children.add(plan);
      for (int i = 0; i < steps.size(); i++) {
        children.add(((QueryExecution) steps.get(i)).executedPlan());
      }
    }

    public List children() {
      return children;
    }
  }

  /** What Spark ran on behalf of other executions: a CREATE TABLE AS SELECT has the write itself run as a step. */
  public static final class Steps {
    private static final int MOST = 1000;
    private final Map roots = new LinkedHashMap(); // of the executions under way
    private final Map over = new LinkedHashMap(); // by root: the steps that are over

    public void began(long id, Object root) {
      if (root != null && !root.equals(Long.valueOf(id)) && roots.size() < MOST && over.size() < MOST) {
        roots.put(Long.valueOf(id), root);
      }
    }

    /** The execution that this one is a step of, or null. */
    public Object rootOf(long id) {
      return roots.get(Long.valueOf(id));
    }

    public List ended(long id, QueryExecution execution) {
      Object root = roots.remove(Long.valueOf(id));
      if (root != null && execution != null) {
        List known = (List) over.get(root);
        if (known == null) {
          known = new ArrayList();
          over.put(root, known);
        }
        known.add(execution);
      }
      List own = (List) over.remove(Long.valueOf(id));
      return own == null ? new ArrayList() : own;
    }
  }
}
