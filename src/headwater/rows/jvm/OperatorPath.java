package headwater;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

import com.fasterxml.jackson.databind.ObjectMapper;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.And;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.expressions.SortOrder;
import org.apache.spark.sql.catalyst.plans.Inner$;
import org.apache.spark.sql.catalyst.plans.logical.Aggregate;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.Generate;
import org.apache.spark.sql.catalyst.plans.logical.Join;
import org.apache.spark.sql.catalyst.plans.logical.JoinHint;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.catalyst.plans.logical.Sort;
import org.apache.spark.sql.catalyst.plans.logical.Union;
import org.apache.spark.sql.types.DataType;

/**
 * The path of a source's marked rows from their leaf to the top of a plan, operator by operator, with queries about
 * each operator. An operator that stopped them can be relaxed: it then additionally lets the marked rows through.
 */
public final class OperatorPath {
  private final Trees trees;
  private final Leaves leaves;
  private final List nodes = new ArrayList(); // from the leaf to the top
  private final List places = new ArrayList(); // of the path among the node's children; -1: within an expression
  private final List marks = new ArrayList(); // as far as they have been made
  private final Set relaxedSteps = new LinkedHashSet();
  private final Set unknownColumns = new LinkedHashSet(); // ids of columns that a relaxed operator left empty

  public OperatorPath(Object builder, Object source, Object condition) throws Exception {
    this(((BlockBuilder) builder).trees(), ((BlockBuilder) builder).leaves());
    LogicalPlan leaf = leaves.leaf(((Integer) source).intValue());
    find(((BlockBuilder) builder).root(), leaf);
    marks.add(MarkedPlan.on(trees, leaf, (String) condition));
  }

  private OperatorPath(Trees trees, Leaves leaves) {
    this.trees = trees;
    this.leaves = leaves;
  }

  /** A limit is two operators, for each partition and for all of them: they are one step. */
  private boolean find(LogicalPlan node, LogicalPlan leaf) throws Exception {
    if (node == leaf) {
      nodes.add(node);
      places.add(Integer.valueOf(0));
      return true;
    }
    List children = Trees.list(node.children());
    for (int i = 0; i < children.size(); i++) {
      if (find((LogicalPlan) children.get(i), leaf)) {
        boolean isLocalHalf = Trees.name(node).equals("GlobalLimit") && Trees.name(last()).equals("LocalLimit");
        if (isLocalHalf) {
          nodes.set(nodes.size() - 1, node);
        } else {
          nodes.add(node);
          places.add(Integer.valueOf(i));
        }
        return true;
      }
    }
    List subqueries = leaves.subqueries(node);
    for (int i = 0; i < subqueries.size(); i++) {
      if (find((LogicalPlan) subqueries.get(i), leaf)) {
        nodes.add(node);
        places.add(Integer.valueOf(-1));
        return true;
      }
    }
    return false;
  }

  private Object last() {
    return nodes.get(nodes.size() - 1);
  }

  private LogicalPlan node(int step) {
    return (LogicalPlan) nodes.get(step);
  }

  private int place(int step) {
    return ((Integer) places.get(step)).intValue();
  }

  /** The plan up to that step; null beyond opaque code. */
  private MarkedPlan planAt(int step) throws Exception {
    while (marks.size() <= step) {
      int next = marks.size();
      MarkedPlan below = (MarkedPlan) marks.get(next - 1);
      MarkedPlan above = below == null ? null : above(next, below);
      if (above != null && relaxedSteps.contains(Integer.valueOf(next))) {
        above = above.relax(node(next), below);
      }
      marks.add(above);
    }
    return (MarkedPlan) marks.get(step);
  }

  private MarkedPlan above(int step, MarkedPlan below) throws Exception {
    if (place(step) < 0) {
      return below.throughSubquery(node(step));
    }
    if (Trees.name(node(step)).equals("GlobalLimit")) {
      LogicalPlan local = (LogicalPlan) Trees.list(node(step).children()).get(0);
      return (local == node(step - 1) ? below : below.throughOperator(local, 0)).throughOperator(node(step), 0);
    }
    return below.throughOperator(node(step), place(step));
  }

  // The interface for Python

  public String describe() throws Exception {
    List all = new ArrayList();
    for (int i = 0; i < nodes.size(); i++) {
      LogicalPlan below = i == 0 ? null : node(i - 1);
      Map description = OperatorText.describe(node(i), place(i), below, nodes.subList(i + 1, nodes.size()));
      description.put("visible", Boolean.valueOf(planAt(i) != null));
      description.put("others", otherSources(i));
      all.add(description);
    }
    return new ObjectMapper().writeValueAsString(all);
  }

  /** The numbers of the sources on the other side of a join. */
  private List otherSources(int step) {
    List numbers = new ArrayList();
    if (step > 0 && node(step) instanceof Join && place(step) >= 0) {
      leaves.collectNumbers(otherChild(step), numbers);
    }
    return numbers;
  }

  private LogicalPlan otherChild(int step) {
    return (LogicalPlan) Trees.list(node(step).children()).get(1 - place(step));
  }

  /** One row for each marked row after a step. */
  public Object survivors(int step) throws Exception {
    List columns = new ArrayList();
    columns.add(Trees.alias(Trees.trueLiteral(), MarkedPlan.NAME));
    return trees.frame(new Project(Trees.seq(columns), planAt(step).markedRows()));
  }

  /** Assumes that the step let the marked rows through. Columns that it would have added are unknown. */
  public void relax(int step) throws Exception {
    List outputs = Trees.list(node(step).output());
    for (int i = 0; i < outputs.size(); i++) {
      Attribute output = (Attribute) outputs.get(i);
      if (!planAt(step - 1).plan.outputSet().contains(output)) {
        unknownColumns.add(output.exprId());
      }
    }
    for (int i = step + 1; i < nodes.size(); i++) {
      spreadUnknown(i);
    }
    relaxedSteps.add(Integer.valueOf(step));
    while (marks.size() > step) {
      marks.remove(marks.size() - 1);
    }
  }

  private void spreadUnknown(int step) {
    List columns = new ArrayList();
    if (node(step) instanceof Project) {
      columns = Trees.list(((Project) node(step)).projectList());
    } else if (node(step) instanceof Aggregate) {
      columns = Trees.list(((Aggregate) node(step)).aggregateExpressions());
    } else if (node(step) instanceof Union && place(step) > 0) {
      List outputs = Trees.list(node(step).output());
      List branch = Trees.list(node(step - 1).output());
      for (int i = 0; i < outputs.size(); i++) {
        if (unknownColumns.contains(((Attribute) branch.get(i)).exprId())) {
          unknownColumns.add(((Attribute) outputs.get(i)).exprId());
        }
      }
    }
    for (int i = 0; i < columns.size(); i++) {
      if (isUnknown((Expression) columns.get(i))) {
        unknownColumns.add(((NamedExpression) columns.get(i)).exprId());
      }
    }
  }

  private boolean isUnknown(Expression expression) {
    List references = Trees.list(expression.references());
    for (int i = 0; i < references.size(); i++) {
      if (unknownColumns.contains(((Attribute) references.get(i)).exprId())) {
        return true;
      }
    }
    return false;
  }

  /** Of a filter: each condition, and the values in it, for each marked row below. */
  public ExpressionFrame conditions(int step) throws Exception {
    List conjuncts = new ArrayList();
    Conditions.conjuncts(((Filter) node(step)).condition(), conjuncts);
    ExpressionFrame frame = new ExpressionFrame(trees, planAt(step - 1).markedRows(), unknownColumns);
    frame.conditions(conjuncts);
    frame.values("key", OperatorText.groupKeys(node(step - 1), nodes.subList(0, step)));
    return frame;
  }

  /** Of an aggregate or a generator: the input values, for each marked row below. */
  public ExpressionFrame values(int step) throws Exception {
    ExpressionFrame frame = new ExpressionFrame(trees, planAt(step - 1).markedRows(), unknownColumns);
    if (node(step) instanceof Aggregate) {
      frame.values("key", Trees.list(((Aggregate) node(step)).groupingExpressions()));
    } else if (node(step) instanceof Generate) {
      frame.values("value", Trees.list(((Expression) ((Generate) node(step)).generator()).references()));
    }
    return frame;
  }

  /** Of a limit: the sort values of all rows below it, and whether they are marked. */
  public ExpressionFrame ranking(int step) throws Exception {
    int sorted = step - 1;
    int skipped = 0;
    boolean keepsOrder = true; // the order, which a relaxed operator does not keep
    while (sorted > 0 && (node(sorted) instanceof Project || Trees.name(node(sorted)).equals("Offset"))) {
      keepsOrder = keepsOrder && !relaxedSteps.contains(Integer.valueOf(sorted));
      if (!(node(sorted) instanceof Project)) {
        skipped += Integer.parseInt(OperatorText.listed(Trees.list(node(sorted).expressions())));
      }
      sorted--;
    }
    boolean isSorted = keepsOrder && node(sorted) instanceof Sort && ((Sort) node(sorted)).global();
    MarkedPlan below = planAt(isSorted ? sorted - 1 : step - 1);
    ExpressionFrame frame = new ExpressionFrame(trees, below.plan, unknownColumns);
    Map mark = frame.add("mark", below.attribute, MarkedPlan.NAME);
    mark.put("unknown", Boolean.valueOf(!keepsOrder));
    mark.put("skipped", Integer.valueOf(skipped));
    if (isSorted) {
      List orders = Trees.list(((Sort) node(sorted)).order());
      for (int i = 0; i < orders.size(); i++) {
        SortOrder order = (SortOrder) orders.get(i);
        Map description = frame.add("order", order.child(), OperatorText.sql(order.child()));
        description.put("ascending", Boolean.valueOf(order.isAscending()));
        description.put("nullsFirst", Boolean.valueOf(order.nullOrdering().toString().equals("NullsFirst")));
      }
    }
    return frame;
  }

  /** Of a join: the key values of the marked rows. */
  public ExpressionFrame keys(int step) throws Exception {
    JoinSides sides = new JoinSides((Join) node(step), place(step));
    ExpressionFrame frame = new ExpressionFrame(trees, planAt(step - 1).markedRows(), unknownColumns);
    for (int i = 0; i < sides.ownKeys.size(); i++) {
      Expression key = (Expression) sides.ownKeys.get(i);
      Map description = frame.add("key", key, OperatorText.sql(key));
      description.put("otherKey", OperatorText.sql((Expression) sides.otherKeys.get(i)));
      description.put("nullSafe", sides.nullSafe.get(i));
    }
    for (int i = 0; i < sides.otherConditions.size(); i++) {
      frame.describe((Expression) sides.otherConditions.get(i));
    }
    frame.values("value", sides.ownConditionColumns(planAt(step - 1).plan));
    return frame;
  }

  /** Of a join: the pairs of marked rows and rows with matching keys, with the other conditions. */
  public ExpressionFrame partners(int step) throws Exception {
    JoinSides sides = new JoinSides((Join) node(step), place(step));
    LogicalPlan other = otherChild(step);
    Expression keys = sides.keys.isEmpty() ? Trees.trueLiteral() : conjunction(sides.keys);
    LogicalPlan pairs = inner(planAt(step - 1).markedRows(), other, keys);
    ExpressionFrame frame = new ExpressionFrame(trees, pairs, unknownColumns);
    frame.conditions(sides.otherConditions);
    return frame;
  }

  /** Of an anti-join: the rows that removed the marked ones. */
  public ExpressionFrame blockers(int step) throws Exception {
    Join join = (Join) node(step);
    Expression condition = join.condition().isDefined() ? (Expression) join.condition().get() : Trees.trueLiteral();
    LogicalPlan pairs = inner(planAt(step - 1).markedRows(), otherChild(step), condition);
    ExpressionFrame frame = new ExpressionFrame(trees, pairs, unknownColumns);
    JoinSides sides = new JoinSides(join, place(step));
    for (int i = 0; i < sides.ownOrNull.size(); i++) {
      Expression own = (Expression) sides.ownOrNull.get(i);
      Expression other = (Expression) sides.otherOrNull.get(i);
      frame.add("own", own, OperatorText.sql(own));
      frame.add("other", other, OperatorText.sql(other));
    }
    frame.values("blocker", Trees.list(otherChild(step).output()));
    return frame;
  }

  private static LogicalPlan inner(LogicalPlan one, LogicalPlan other, Expression condition) {
    return new Join(one, other, Inner$.MODULE$, scala.Option.apply(condition), JoinHint.NONE());
  }

  private static Expression conjunction(List conditions) {
    Expression conjunction = (Expression) conditions.get(0);
    for (int i = 1; i < conditions.size(); i++) {
      conjunction = new And(conjunction, (Expression) conditions.get(i));
    }
    return conjunction;
  }

  /**
   * Of a join: the path of the rows that would match one of the marked rows, from their own source to the join. Null
   * where the keys on that side are not plain columns of one source.
   */
  public OperatorPath partnerPath(int step) throws Exception {
    JoinSides sides = new JoinSides((Join) node(step), place(step));
    LogicalPlan other = otherChild(step);
    List from = new ArrayList();
    List to = new ArrayList();
    LogicalPlan leaf = null;
    List otherColumns = JoinSides.references(sides.otherKeys);
    for (int i = 0; i < otherColumns.size(); i++) {
      LeafColumn column = LeafColumn.find((Attribute) otherColumns.get(i), other);
      if (column == null || (leaf != null && leaf != column.leaf)) {
        return null;
      }
      leaf = column.leaf;
      from.add(otherColumns.get(i));
      to.add(column.column);
    }
    List ownColumns = JoinSides.references(sides.ownKeys);
    InternalRow row = leaf == null ? null : first(ownColumns, sides.ownKeys, step);
    if (row == null || leaves.source(leaf) == null) {
      return null;
    }
    for (int i = 0; i < ownColumns.size(); i++) {
      from.add(ownColumns.get(i));
      DataType type = ((Attribute) ownColumns.get(i)).dataType();
      to.add(new Literal(row.get(i, type), type));
    }
    List conditions = new ArrayList();
    for (int i = 0; i < sides.keys.size(); i++) {
      conditions.add(Substitute.in((Expression) sides.keys.get(i), from, to));
    }
    OperatorPath path = new OperatorPath(trees, leaves);
    path.find(other, leaf);
    path.marks.add(MarkedPlan.on(leaf, conjunction(conditions)));
    return path;
  }

  /** The columns of the first marked row in the order of those keys. */
  private InternalRow first(List columns, List keys, int step) throws Exception {
    List all = new ArrayList(columns);
    String[] names = new String[keys.size() - 1];
    for (int i = 0; i < keys.size(); i++) {
      all.add(Trees.alias((Expression) keys.get(i), "__hw_" + i));
      if (i > 0) {
        names[i - 1] = "__hw_" + i;
      }
    }
    Object frame = trees.frame(new Project(Trees.seq(all), planAt(step - 1).markedRows()));
    Method sort = frame.getClass().getMethod("sort", new Class[] {String.class, String[].class});
    List rows = SmallRowSet.collect(trees, sort.invoke(frame, new Object[] {"__hw_0", names}), 1);
    return rows.isEmpty() ? null : (InternalRow) rows.get(0);
  }

  /** The marked rows at the top, with its columns. */
  public Object survivingRows() throws Exception {
    int top = nodes.size() - 1;
    return trees.frame(new Project(Trees.seq(Trees.list(node(top).output())), planAt(top).markedRows()));
  }

  /** The number of the source that the path starts from. */
  public int source() {
    return leaves.source(node(0)).number;
  }
}
