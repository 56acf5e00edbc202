package headwater;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import org.apache.spark.sql.catalyst.plans.logical.Command;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Union;
import org.apache.spark.sql.execution.QueryExecution;

/**
 * A command that an execution ran, as Python reads it: its plans, those of its steps, and its newest RDD.
 *
 * Janino, the compiler that Spark brings, compiles this file: it supports no generics and no lambdas.
 */
public final class ExecutedCommand {
  private final QueryExecution execution;
  private final int index; // of this command if the execution has several, else -1
  private final List steps;
  private final Object rdd;

  private ExecutedCommand(QueryExecution execution, int index, List steps, Object rdd) {
    this.execution = execution;
    this.index = index;
    this.steps = steps;
    this.rdd = rdd;
  }

  public static List of(QueryExecution execution, List steps, Object rdd) throws Exception {
    List commands = new ArrayList();
    if (hasSeveralCommands(execution.analyzed())) {
      for (int i = 0; i < PlanFacts.elements(execution.analyzed().children()).size(); i++) {
        commands.add(new ExecutedCommand(execution, i, steps, rdd));
      }
    } else {
      commands.add(new ExecutedCommand(execution, -1, steps, rdd));
    }
    return commands;
  }

  /** `FROM … INSERT … INSERT …` */
  public static boolean hasSeveralCommands(LogicalPlan plan) {
    return plan instanceof Union && PlanFacts.elements(plan.children()).get(0) instanceof Command;
  }

  public Object analyzed() {
    return index < 0 ? execution.analyzed() : PlanFacts.elements(execution.analyzed().children()).get(index);
  }

  /** Spark's own record of the execution; statements that ran together share one. */
  public Object queryExecution() {
    return execution;
  }

  public Object sparkSession() {
    return execution.sparkSession();
  }

  public Object rdd() {
    return rdd;
  }

  /** Whether there is a physical plan. Asking for one whose planning failed would make Spark plan again. */
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

  /** The physical plan; if there were steps, with theirs beside it. */
  public Object executedPlan() throws Exception {
    Object plan = execution.executedPlan();
    int commandCount = index < 0 ? 0 : PlanFacts.elements(execution.analyzed().children()).size();
    while (commandCount > 0) { // down to the node with one child per command
      List children = PlanFacts.elements(PlanFacts.follow(plan, "children"));
      plan = children.size() == commandCount ? children.get(index) : children.get(0);
      commandCount = children.size() == commandCount ? 0 : commandCount;
    }
    return steps.isEmpty() ? plan : new PlanWithSteps(plan, steps);
  }

  /** A command's physical plan and those of its steps, side by side. */
  public static final class PlanWithSteps {
    private final List children = new ArrayList();

    private PlanWithSteps(Object plan, List steps) {
      children.add(plan);
      for (int i = 0; i < steps.size(); i++) {
        children.add(((QueryExecution) steps.get(i)).executedPlan());
      }
    }

    public List children() {
      return children;
    }
  }

  /** Executions that Spark ran as steps of others: CREATE TABLE AS SELECT runs the write itself as a step. */
  public static final class Steps {
    private static final int MAX_EXECUTIONS = 1000;
    private final Map roots = new LinkedHashMap(); // of running executions
    private final Map endedSteps = new LinkedHashMap(); // by root: the steps that have ended

    public void executionStarted(long id, Object root) {
      boolean isFull = roots.size() >= MAX_EXECUTIONS || endedSteps.size() >= MAX_EXECUTIONS;
      if (root != null && !root.equals(Long.valueOf(id)) && !isFull) {
        roots.put(Long.valueOf(id), root);
      }
    }

    /** The execution that this one is a step of, or null. */
    public Object rootOf(long id) {
      return roots.get(Long.valueOf(id));
    }

    public List executionEnded(long id, QueryExecution execution) {
      Object root = roots.remove(Long.valueOf(id));
      if (root != null && execution != null) {
        List steps = (List) endedSteps.get(root);
        if (steps == null) {
          steps = new ArrayList();
          endedSteps.put(root, steps);
        }
        steps.add(execution);
      }
      List ownSteps = (List) endedSteps.remove(Long.valueOf(id));
      return ownSteps == null ? new ArrayList() : ownSteps;
    }
  }
}
