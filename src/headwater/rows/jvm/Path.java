package headwater;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

import com.fasterxml.jackson.databind.ObjectMapper;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.expressions.And;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal$;
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

/**
 * The way of a source's marked rows from their leaf to the top of a plan, operator by operator, and what each operator
 * can be asked about them. An operator that stopped them can be relaxed: it then lets them through, and nothing else.
 */
public final class Path {
  private final Trees trees;
  private final Leaves leaves;
  private final List nodes = new ArrayList(); // from the leaf to the top
  private final List places = new ArrayList(); // of the path among the node's children; -1: within an expression
  private final List marks = new ArrayList(); // as far as they have been made
  private final Set relaxed = new LinkedHashSet();
  private final Set unknown = new LinkedHashSet(); // ids of columns that a relaxed operator left empty

  public Path(Object carry, Object source, Object condition) throws Exception {
    this(((Carry) carry).trees(), ((Carry) carry).leaves());
    LogicalPlan leaf = leaves.leaf(((Integer) source).intValue());
    find(((Carry) carry).root(), leaf);
    marks.add(Mark.on(trees, leaf, (String) condition));
  }

  private Path(Trees trees, Leaves leaves) {
    this.trees = trees;
    this.leaves = leaves;
  }

  /** Limits stand in the plan twice, for each partition and for all of them: they are one step. */
  private boolean find(LogicalPlan node, LogicalPlan leaf) throws Exception {
    if (node == leaf) {
      nodes.add(node);
      places.add(Integer.valueOf(0));
      return true;
    }
    List children = Trees.list(node.children());
    for (int i = 0; i < children.size(); i++) {
      if (find((LogicalPlan) children.get(i), leaf)) {
        boolean twice = Trees.name(node).equals("GlobalLimit") && Trees.name(last()).equals("LocalLimit");
        if (twice) {
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

  /** The plan up to that step; null beyond code that cannot be looked into. */
  private Mark at(int step) throws Exception {
    while (marks.size() <= step) {
      int next = marks.size();
      Mark below = (Mark) marks.get(next - 1);
      Mark above = below == null ? null : above(next, below);
      if (above != null && relaxed.contains(Integer.valueOf(next))) {
        above = above.relaxed(node(next), below);
      }
      marks.add(above);
    }
    return (Mark) marks.get(step);
  }

  private Mark above(int step, Mark below) throws Exception {
    if (place(step) < 0) {
      return below.used(node(step));
    }
    if (Trees.name(node(step)).equals("GlobalLimit")) {
      LogicalPlan local = (LogicalPlan) Trees.list(node(step).children()).get(0);
      return (local == node(step - 1) ? below : below.above(local, 0)).above(node(step), 0);
    }
    return below.above(node(step), place(step));
  }

  // What Python asks

  public String describe() throws Exception {
    List all = new ArrayList();
    for (int i = 0; i < nodes.size(); i++) {
      Map said = Words.of(node(i), place(i), i == 0 ? null : node(i - 1), nodes.subList(i + 1, nodes.size()));
      said.put("visible", Boolean.valueOf(at(i) != null));
      said.put("others", others(i));
      all.add(said);
    }
    return new ObjectMapper().writeValueAsString(all);
  }

  /** The numbers of the sources on the other side of a join. */
  private List others(int step) {
    List found = new ArrayList();
    if (step > 0 && node(step) instanceof Join && place(step) >= 0) {
      leaves.numbers(other(step), found);
    }
    return found;
  }

  private LogicalPlan other(int step) {
    return (LogicalPlan) Trees.list(node(step).children()).get(1 - place(step));
  }

  /** One row for each marked row after a step. */
  public Object survivors(int step) throws Exception {
    List columns = new ArrayList();
    columns.add(Trees.alias(Trees.truth(), Mark.NAME));
    return trees.frame(new Project(Trees.seq(columns), at(step).rows()));
  }

  /** Suppose that the step had let the marked rows through. What they would have met there stays unknown. */
  public void relax(int step) throws Exception {
    List added = Trees.list(node(step).output());
    for (int i = 0; i < added.size(); i++) {
      Attribute output = (Attribute) added.get(i);
      if (!at(step - 1).plan.outputSet().contains(output)) {
        unknown.add(output.exprId());
      }
    }
    for (int i = step + 1; i < nodes.size(); i++) {
      spread(i);
    }
    relaxed.add(Integer.valueOf(step));
    while (marks.size() > step) {
      marks.remove(marks.size() - 1);
    }
  }

  private void spread(int step) {
    List made = new ArrayList();
    if (node(step) instanceof Project) {
      made = Trees.list(((Project) node(step)).projectList());
    } else if (node(step) instanceof Aggregate) {
      made = Trees.list(((Aggregate) node(step)).aggregateExpressions());
    } else if (node(step) instanceof Union && place(step) > 0) {
      List outputs = Trees.list(node(step).output());
      List branch = Trees.list(node(step - 1).output());
      for (int i = 0; i < outputs.size(); i++) {
        if (unknown.contains(((Attribute) branch.get(i)).exprId())) {
          unknown.add(((Attribute) outputs.get(i)).exprId());
        }
      }
    }
    for (int i = 0; i < made.size(); i++) {
      if (unsure((Expression) made.get(i))) {
        unknown.add(((NamedExpression) made.get(i)).exprId());
      }
    }
  }

  private boolean unsure(Expression expression) {
    List references = Trees.list(expression.references());
    for (int i = 0; i < references.size(); i++) {
      if (unknown.contains(((Attribute) references.get(i)).exprId())) {
        return true;
      }
    }
    return false;
  }

  /** Of a filter: each condition, and the values that it is about, for each marked row below. */
  public Shown conditions(int step) throws Exception {
    List conjuncts = new ArrayList();
    Conditions.conjuncts(((Filter) node(step)).condition(), conjuncts);
    Shown shown = new Shown(trees, at(step - 1).rows(), unknown);
    shown.conditions(conjuncts);
    shown.values("key", Words.groupKeys(node(step - 1), nodes.subList(0, step)));
    return shown;
  }

  /** Of an aggregate, or what makes rows of a value: the values, for each marked row below. */
  public Shown values(int step) throws Exception {
    Shown shown = new Shown(trees, at(step - 1).rows(), unknown);
    if (node(step) instanceof Aggregate) {
      shown.values("key", Trees.list(((Aggregate) node(step)).groupingExpressions()));
    } else if (node(step) instanceof Generate) {
      shown.values("value", Trees.list(((Expression) ((Generate) node(step)).generator()).references()));
    }
    return shown;
  }

  /** Of a limit: all rows below it by what they are ordered by, and whether they are marked. */
  public Shown ranking(int step) throws Exception {
    int sorted = step - 1;
    int skipped = 0;
    boolean kept = true; // the order, which a relaxed operator does not keep
    while (sorted > 0 && (node(sorted) instanceof Project || Trees.name(node(sorted)).equals("Offset"))) {
      kept = kept && !relaxed.contains(Integer.valueOf(sorted));
      if (!(node(sorted) instanceof Project)) {
        skipped += Integer.parseInt(Words.listed(Trees.list(node(sorted).expressions())));
      }
      sorted--;
    }
    boolean found = kept && node(sorted) instanceof Sort && ((Sort) node(sorted)).global();
    Mark below = at(found ? sorted - 1 : step - 1);
    Shown shown = new Shown(trees, below.plan, unknown);
    Map mark = shown.add("mark", below.attribute, Mark.NAME);
    mark.put("unknown", Boolean.valueOf(!kept));
    mark.put("skipped", Integer.valueOf(skipped));
    if (found) {
      List orders = Trees.list(((Sort) node(sorted)).order());
      for (int i = 0; i < orders.size(); i++) {
        SortOrder order = (SortOrder) orders.get(i);
        Map said = shown.add("order", order.child(), Words.sql(order.child()));
        said.put("ascending", Boolean.valueOf(order.isAscending()));
        said.put("nullsFirst", Boolean.valueOf(order.nullOrdering().toString().equals("NullsFirst")));
      }
    }
    return shown;
  }

  /** Of a join: by which values its marked rows look for partners. */
  public Shown keys(int step) throws Exception {
    Sides sides = new Sides((Join) node(step), place(step));
    Shown shown = new Shown(trees, at(step - 1).rows(), unknown);
    for (int i = 0; i < sides.here.size(); i++) {
      Map said = shown.add("key", (Expression) sides.here.get(i), Words.sql((Expression) sides.here.get(i)));
      said.put("there", Words.sql((Expression) sides.there.get(i)));
      said.put("safe", sides.safe.get(i));
    }
    for (int i = 0; i < sides.rest.size(); i++) {
      shown.rest((Expression) sides.rest.get(i));
    }
    shown.values("value", sides.seenHere(at(step - 1).plan));
    return shown;
  }

  /** Of a join: the pairs of marked rows and those whose keys match, with what else is asked of a pair. */
  public Shown partners(int step) throws Exception {
    Sides sides = new Sides((Join) node(step), place(step));
    LogicalPlan other = other(step);
    Expression keys = sides.keys.isEmpty() ? Trees.truth() : all(sides.keys);
    Shown shown = new Shown(trees, inner(at(step - 1).rows(), other, keys), unknown);
    shown.conditions(sides.rest);
    return shown;
  }

  /** Of an anti-join: the rows that kept the marked ones away. */
  public Shown blockers(int step) throws Exception {
    Join join = (Join) node(step);
    Expression condition = join.condition().isDefined() ? (Expression) join.condition().get() : Trees.truth();
    Shown shown = new Shown(trees, inner(at(step - 1).rows(), other(step), condition), unknown);
    Sides sides = new Sides(join, place(step));
    for (int i = 0; i < sides.hereOrNull.size(); i++) {
      Expression here = (Expression) sides.hereOrNull.get(i);
      Expression there = (Expression) sides.thereOrNull.get(i);
      shown.add("here", here, Words.sql(here));
      shown.add("there", there, Words.sql(there));
    }
    shown.values("blocker", Trees.list(other(step).output()));
    return shown;
  }

  private static LogicalPlan inner(LogicalPlan one, LogicalPlan other, Expression condition) {
    return new Join(one, other, Inner$.MODULE$, scala.Option.apply(condition), JoinHint.NONE());
  }

  private static Expression all(List conditions) {
    Expression whole = (Expression) conditions.get(0);
    for (int i = 1; i < conditions.size(); i++) {
      whole = new And(whole, (Expression) conditions.get(i));
    }
    return whole;
  }

  /**
   * Of a join: the way of the rows that would have matched one of the marked rows, from their own source to the join.
   * Null where the keys there are not just columns of one source.
   */
  public Path wanted(int step) throws Exception {
    Sides sides = new Sides((Join) node(step), place(step));
    LogicalPlan other = other(step);
    List from = new ArrayList();
    List to = new ArrayList();
    LogicalPlan leaf = null;
    List there = Sides.references(sides.there);
    for (int i = 0; i < there.size(); i++) {
      Origin origin = Origin.of((Attribute) there.get(i), other);
      if (origin == null || (leaf != null && leaf != origin.leaf)) {
        return null;
      }
      leaf = origin.leaf;
      from.add(there.get(i));
      to.add(origin.column);
    }
    List here = Sides.references(sides.here);
    Row row = leaf == null ? null : first(here, sides.here, step);
    if (row == null || leaves.source(leaf) == null) {
      return null;
    }
    for (int i = 0; i < here.size(); i++) {
      from.add(here.get(i));
      to.add(Literal$.MODULE$.create(row.get(i), ((Attribute) here.get(i)).dataType()));
    }
    List conditions = new ArrayList();
    for (int i = 0; i < sides.keys.size(); i++) {
      conditions.add(Substitute.in((Expression) sides.keys.get(i), from, to));
    }
    Path path = new Path(trees, leaves);
    path.find(other, leaf);
    path.marks.add(Mark.on(leaf, all(conditions)));
    return path;
  }

  /** The columns of the marked row that comes first by those keys. */
  private Row first(List columns, List keys, int step) throws Exception {
    List all = new ArrayList(columns);
    String[] names = new String[keys.size() - 1];
    for (int i = 0; i < keys.size(); i++) {
      all.add(Trees.alias((Expression) keys.get(i), "__hw_" + i));
      if (i > 0) {
        names[i - 1] = "__hw_" + i;
      }
    }
    Object frame = trees.frame(new Project(Trees.seq(all), at(step - 1).rows()));
    Method sort = frame.getClass().getMethod("sort", new Class[] {String.class, String[].class});
    List found = Few.collected(sort.invoke(frame, new Object[] {"__hw_0", names}), 1);
    return found.isEmpty() ? null : (Row) found.get(0);
  }

  /** The marked rows at the top, with its columns. */
  public Object reached() throws Exception {
    int top = nodes.size() - 1;
    return trees.frame(new Project(Trees.seq(Trees.list(node(top).output())), at(top).rows()));
  }

  /** The number of the source that the path starts from. */
  public int source() {
    return leaves.source(node(0)).number;
  }
}
