package headwater;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression;
import org.apache.spark.sql.catalyst.expressions.aggregate.First;
import org.apache.spark.sql.catalyst.plans.logical.Aggregate;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.catalyst.plans.logical.Window;
import org.apache.spark.sql.types.DoubleType$;
import org.apache.spark.sql.types.FloatType$;

/**
 * Checks whether another execution of the plan returns the same rows. Values that may differ are followed up the plan.
 * One that is only part of the result is left out of the row's identity; one that decides which rows there are is
 * refused, or noted if it only depends on the order of rows.
 */
public final class DeterminismCheck {
  private static final String RANDOM = "chance";
  private static final String ORDER = "order";
  private static final List ROW_CHOOSING = Arrays.asList(new Object[] {"First", "Last", "AnyValue"});
  private final LogicalPlan root;
  private final Map unstableKinds = new HashMap(); // expression id -> kind
  private final Set refusals = new LinkedHashSet();
  private final Set notes = new LinkedHashSet();

  /** ``subqueries``: all the plans within the root's expressions, and within those. */
  public DeterminismCheck(LogicalPlan root, List subqueries) {
    this.root = root;
    visit(root);
    for (int i = 0; i < subqueries.size(); i++) {
      subquery((LogicalPlan) subqueries.get(i));
    }
  }

  private void visit(LogicalPlan node) {
    List children = Trees.list(node.children());
    for (int i = 0; i < children.size(); i++) {
      visit((LogicalPlan) children.get(i));
    }
    if (Trees.name(node).equals("Sample")) {
      sample((LogicalPlan) children.get(0));
    }
    if (OperatorKinds.isTableFunction(node)) {
      notes.add(OperatorKinds.words(node) + " may return a row for any row that it has got");
    } else if (node instanceof Project) {
      recordColumns(Trees.list(((Project) node).projectList()));
    } else if (node instanceof Aggregate) {
      checkDeciding(node, Trees.list(((Aggregate) node).groupingExpressions()));
      recordColumns(Trees.list(((Aggregate) node).aggregateExpressions()));
    } else if (Trees.name(node).equals("Union")) {
      union(node, children);
    } else if (Trees.name(node).equals("Sort")) {
      refuseRandom(node, Trees.list(node.expressions())); // a limit above would take different rows every time
    } else if (!children.isEmpty()) {
      checkDeciding(node, Trees.list(node.expressions()));
    }
    if (node instanceof Window && Trees.list(((Window) node).orderSpec()).isEmpty() && numbersRows((Window) node)) {
      refusals.add(
          "a LIMIT within a correlated subquery, whose order Spark loses on the way: which rows it takes is left to"
              + " chance. Order by a column that the subquery returns under its own name");
    }
    if (Trees.name(node).equals("LocalLimit") && !totallyOrdered(node)) {
      notes.add("the rows that a limit takes among equals may differ from one execution to the next");
    }
  }

  private static boolean numbersRows(Window node) {
    List columns = Trees.list(node.windowExpressions());
    for (int i = 0; i < columns.size(); i++) {
      if (((Expression) columns.get(i)).sql().contains("row_number()")) {
        return true;
      }
    }
    return false;
  }

  private void sample(LogicalPlan below) {
    if (OperatorKinds.keepsPlaces(below)) {
      notes.add("the rows that a sample takes depend on how Spark splits the files: with other settings it takes others");
    } else {
      refusals.add(
          "a sample of rows that were moved between partitions, by a join, a group or an order: which it takes"
              + " depends on the order in which they arrive");
    }
  }

  private static boolean totallyOrdered(LogicalPlan limit) {
    LogicalPlan child = (LogicalPlan) Trees.list(limit.children()).get(0);
    List keys = Trees.list(child.distinctKeys());
    for (int i = 0; i < keys.size(); i++) {
      if (((scala.collection.Iterable) keys.get(i)).isEmpty()) {
        return true;
      }
    }
    return false;
  }

  private void recordColumns(List columns) {
    for (int i = 0; i < columns.size(); i++) {
      NamedExpression column = (NamedExpression) columns.get(i);
      String kind = kind((Expression) column);
      if (kind != null) {
        unstableKinds.put(column.exprId(), kind);
      }
    }
  }

  private void checkDeciding(LogicalPlan node, List expressions) {
    refuseRandom(node, expressions);
    for (int i = 0; i < expressions.size(); i++) {
      Expression expression = (Expression) expressions.get(i);
      if (ORDER.equals(kind(expression))) {
        notes.add(Trees.name(node) + ": " + expression.sql() + " depends on the order of rows");
      }
    }
  }

  private void refuseRandom(LogicalPlan node, List expressions) {
    for (int i = 0; i < expressions.size(); i++) {
      Expression expression = (Expression) expressions.get(i);
      if (RANDOM.equals(kind(expression))) {
        refusals.add(OperatorKinds.words(node) + ": " + expression.sql() + " is different in every execution");
      }
    }
  }

  /** A subquery's value may decide over rows: it must be the same in every execution. */
  private void subquery(LogicalPlan plan) {
    DeterminismCheck inner = new DeterminismCheck(plan, new ArrayList());
    refusals.addAll(inner.refusals);
    notes.addAll(inner.notes);
    List outputs = Trees.list(plan.output());
    for (int i = 0; i < outputs.size(); i++) {
      if (RANDOM.equals(inner.unstableKinds.get(((Attribute) outputs.get(i)).exprId()))) {
        refusals.add("a subquery: " + ((Attribute) outputs.get(i)).name() + " is different in every execution");
      }
    }
  }

  /** A union has the ids of its first branch, and is unstable where one of its branches is. */
  private void union(LogicalPlan node, List children) {
    List outputs = Trees.list(node.output());
    for (int i = 0; i < children.size(); i++) {
      List branch = Trees.list(((LogicalPlan) children.get(i)).output());
      for (int j = 0; j < branch.size(); j++) {
        Object kind = unstableKinds.get(((Attribute) branch.get(j)).exprId());
        if (kind != null) {
          unstableKinds.put(((Attribute) outputs.get(j)).exprId(), kind);
        }
      }
    }
  }

  private String kind(Expression expression) {
    if (expression instanceof AggregateExpression) {
      AggregateExpression aggregate = (AggregateExpression) expression;
      boolean floating = aggregate.dataType() == DoubleType$.MODULE$ || aggregate.dataType() == FloatType$.MODULE$;
      if (!aggregate.aggregateFunction().deterministic() || floating) {
        return ORDER; // first, last, collect_list; and sums of floating numbers
      }
    } else if (expression instanceof Attribute) {
      return (String) unstableKinds.get(((Attribute) expression).exprId());
    } else if (Trees.list(expression.children()).isEmpty() && !expression.deterministic()) {
      return RANDOM;
    }
    String worst = null;
    List children = Trees.list(expression.children());
    boolean childrenDeterministic = true;
    for (int i = 0; i < children.size(); i++) {
      Expression child = (Expression) children.get(i);
      String kind = kind(child);
      childrenDeterministic = childrenDeterministic && child.deterministic();
      if (kind != null && worst != RANDOM) {
        worst = kind;
      }
    }
    boolean isAggregate = expression instanceof AggregateExpression;
    boolean random = childrenDeterministic && !expression.deterministic() && !isAggregate;
    return random ? RANDOM : worst;
  }

  /** Whether an aggregate takes values from an arbitrary row of the group. */
  public static boolean choosesRows(List expressions) {
    for (int i = 0; i < expressions.size(); i++) {
      Expression expression = (Expression) expressions.get(i);
      if (ROW_CHOOSING.contains(Trees.name(expression)) || choosesRows(Trees.list(expression.children()))) {
        return true;
      }
    }
    return false;
  }

  /** Whether an aggregate is the first row of each group, as `dropDuplicates` makes it: beside keys only first values. */
  public static boolean takesFirstRow(Aggregate node) {
    List columns = Trees.list(node.aggregateExpressions());
    boolean takesOne = false;
    for (int i = 0; i < columns.size(); i++) {
      Expression column = (Expression) columns.get(i);
      Expression value = column instanceof Alias ? ((Alias) column).child() : column;
      if (value instanceof AggregateExpression) {
        AggregateExpression aggregate = (AggregateExpression) value;
        boolean isFirst = aggregate.aggregateFunction() instanceof First
            && !((First) aggregate.aggregateFunction()).ignoreNulls() && !aggregate.filter().isDefined();
        if (!isFirst) {
          return false;
        }
        takesOne = true;
      }
    }
    return takesOne;
  }

  public List refusals() {
    return new ArrayList(refusals);
  }

  public List notes() {
    return new ArrayList(notes);
  }

  /** The positions of the result's columns that another execution may not repeat. */
  public List unstable() {
    List outputs = Trees.list(root.output());
    List places = new ArrayList();
    for (int i = 0; i < outputs.size(); i++) {
      if (unstableKinds.containsKey(((Attribute) outputs.get(i)).exprId())) {
        places.add(Integer.valueOf(i));
      }
    }
    return places;
  }

  /** The positions of columns that form a key of the result; null if there is none. */
  public List identity() {
    List keys = Trees.list(root.distinctKeys());
    List outputs = Trees.list(root.output());
    List best = null;
    for (int i = 0; i < keys.size(); i++) {
      List places = places(Trees.list(keys.get(i)), outputs);
      if (places != null && (best == null || places.size() < best.size())) {
        best = places;
      }
    }
    return best;
  }

  private List places(List key, List outputs) {
    List places = new ArrayList();
    for (int i = 0; i < key.size(); i++) {
      int place = -1;
      for (int j = 0; j < outputs.size(); j++) {
        if (((Expression) outputs.get(j)).semanticEquals((Expression) key.get(i))) {
          place = j;
        }
      }
      if (place < 0 || unstableKinds.containsKey(((Attribute) outputs.get(place)).exprId())) {
        return null;
      }
      places.add(Integer.valueOf(place));
    }
    return places;
  }

  public static List describeColumns(List attributes) {
    List all = new ArrayList();
    for (int i = 0; i < attributes.size(); i++) {
      Attribute attribute = (Attribute) attributes.get(i);
      Map description = new LinkedHashMap();
      description.put("name", attribute.name());
      description.put("id", Long.valueOf(attribute.exprId().id()));
      description.put("type", attribute.dataType().catalogString());
      all.add(description);
    }
    return all;
  }
}
