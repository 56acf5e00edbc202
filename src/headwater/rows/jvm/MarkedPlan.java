package headwater;

import java.lang.reflect.Constructor;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.aggregate.First;
import org.apache.spark.sql.catalyst.expressions.aggregate.Max;
import org.apache.spark.sql.catalyst.plans.ExistenceJoin;
import org.apache.spark.sql.catalyst.plans.Inner$;
import org.apache.spark.sql.catalyst.plans.logical.Aggregate;
import org.apache.spark.sql.catalyst.plans.logical.Expand;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.Join;
import org.apache.spark.sql.catalyst.plans.logical.JoinHint;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.catalyst.plans.logical.Union;
import org.apache.spark.sql.catalyst.plans.logical.Union$;
import org.apache.spark.sql.types.BooleanType$;

/**
 * A plan with a column that says whether a row comes from marked rows of one source, carried up operator by operator. A
 * group is marked if one of its rows is. Null means false, so that conditions need not be wrapped and sources can skip
 * rows by them.
 */
public final class MarkedPlan {
  public static final String NAME = "__hw_mark";
  public final LogicalPlan plan;
  public final Attribute attribute;

  private MarkedPlan(LogicalPlan plan, Attribute attribute) {
    this.plan = plan;
    List wanted = new ArrayList();
    wanted.add(attribute);
    this.attribute = (Attribute) Trees.outputs(plan, wanted).get(0);
  }

  private static MarkedPlan ofLastColumn(LogicalPlan plan) {
    List outputs = Trees.list(plan.output());
    return new MarkedPlan(plan, (Attribute) outputs.get(outputs.size() - 1));
  }

  /** The rows of a leaf that meet a condition in SQL. */
  public static MarkedPlan on(Trees trees, LogicalPlan leaf, String condition) throws Exception {
    List texts = new ArrayList();
    texts.add("(" + condition + "\n) as `" + NAME + "`");
    return ofLastColumn(trees.select(leaf, texts));
  }

  public static MarkedPlan on(LogicalPlan leaf, Expression condition) {
    return withMark(leaf, condition);
  }

  private static MarkedPlan withMark(LogicalPlan plan, Expression value) {
    List columns = Trees.list(plan.output());
    columns.add(Trees.alias(value, NAME));
    return ofLastColumn(new Project(Trees.seq(columns), plan));
  }

  /** The marked rows alone. */
  public LogicalPlan markedRows() {
    return new Filter(attribute, plan);
  }

  /** The operator with this plan as its child; null where rows cannot be followed. */
  public MarkedPlan throughOperator(LogicalPlan node, int place) throws Exception {
    String name = Trees.name(node);
    if (BlockBuilder.OMITTED.contains(name)) {
      return this;
    }
    if (!BlockBuilder.followsRows(node) || OperatorKinds.isWithinLoop(node)) {
      return null;
    }
    if (node instanceof Project) {
      List columns = Trees.list(((Project) node).projectList());
      columns.add(attribute);
      return new MarkedPlan(new Project(Trees.seq(columns), plan), attribute);
    }
    if (node instanceof Aggregate) {
      return aggregate((Aggregate) node);
    }
    if (node instanceof Join) {
      return join((Join) node, place);
    }
    if (node instanceof Union) {
      return union((Union) node, place);
    }
    if (node instanceof Expand) {
      return expand((Expand) node);
    }
    return new MarkedPlan(withThisChild(node, place), attribute);
  }

  private LogicalPlan withThisChild(LogicalPlan node, int place) {
    List children = Trees.list(node.children());
    children.set(place, plan);
    return Trees.withChildren(node, children);
  }

  private MarkedPlan aggregate(Aggregate node) {
    List columns = Trees.list(node.aggregateExpressions());
    boolean takesOne = DeterminismCheck.takesFirstRow(node); // of the group, and in one execution the same for all
    Expression mark = takesOne ? new First(attribute, false).toAggregateExpression() : anyMarked();
    columns.add(Trees.alias(mark, NAME));
    LogicalPlan below = Trees.withChildren(node, Arrays.asList(new Object[] {plan}));
    return ofLastColumn(Trees.with(below, 1, Trees.seq(columns)));
  }

  private Expression anyMarked() {
    return new Max(attribute).toAggregateExpression();
  }

  private MarkedPlan join(Join node, int place) throws Exception {
    String type = node.joinType().toString();
    if (place == 0 || !(type.equals("LeftSemi") || type.equals("LeftAnti") || type.startsWith("ExistenceJoin"))) {
      return new MarkedPlan(withThisChild(node, place), attribute);
    }
    if (type.equals("LeftAnti")) { // rows on the right only remove others
      return withMark(node, new Literal(Boolean.FALSE, BooleanType$.MODULE$));
    }
    Attribute exists = (Attribute) Trees.alias(Trees.trueLiteral(), NAME).toAttribute();
    return ofLastColumn(new Join(node, markedRows(), new ExistenceJoin(exists), node.condition(), JoinHint.NONE()));
  }

  private MarkedPlan union(Union node, int place) {
    List children = Trees.list(node.children());
    for (int i = 0; i < children.size(); i++) {
      LogicalPlan child = (LogicalPlan) children.get(i);
      List columns = Trees.list(child.output());
      Expression value = i == place ? (Expression) attribute : Trees.nullLiteral(BooleanType$.MODULE$);
      columns.add(Trees.alias(value, NAME));
      children.set(i, new Project(Trees.seq(columns), i == place ? plan : child));
    }
    return ofLastColumn(Trees.withChildren(node, children));
  }

  private MarkedPlan expand(Expand node) {
    List projections = Trees.list(node.projections());
    for (int i = 0; i < projections.size(); i++) {
      List projection = Trees.list(projections.get(i));
      projection.add(attribute);
      projections.set(i, Trees.seq(projection));
    }
    List output = Trees.list(node.output());
    output.add(attribute);
    return new MarkedPlan(new Expand(Trees.seq(projections), Trees.seq(output), plan), attribute);
  }

  /** The operator that uses this plan as a scalar subquery: each of its rows comes from the marked ones. */
  public MarkedPlan throughSubquery(LogicalPlan node) throws Exception {
    List columns = new ArrayList();
    columns.add(Trees.alias(anyMarked(), NAME));
    LogicalPlan mark = globalAggregate(columns, plan);
    return ofLastColumn(new Join(node, mark, Inner$.MODULE$, scala.Option.apply(null), JoinHint.NONE()));
  }

  /** An aggregate without groups; since Spark 4 it may have a hint too. */
  private static LogicalPlan globalAggregate(List columns, LogicalPlan plan) throws Exception {
    Constructor constructor = Aggregate.class.getConstructors()[0];
    Object[] fields = new Object[constructor.getParameterTypes().length];
    Arrays.fill(fields, scala.Option.apply(null));
    fields[0] = Trees.seq(new ArrayList());
    fields[1] = Trees.seq(columns);
    fields[2] = plan;
    return (LogicalPlan) constructor.newInstance(fields);
  }

  /** The operator's output, and in addition the marked rows below it. */
  public MarkedPlan relax(LogicalPlan node, MarkedPlan below) {
    List outputs = Trees.list(node.output());
    List own = new ArrayList(outputs);
    own.add(attribute);
    List letThrough = new ArrayList();
    for (int i = 0; i < outputs.size(); i++) {
      Attribute output = (Attribute) outputs.get(i);
      boolean known = below.plan.outputSet().contains(output);
      letThrough.add(Trees.alias(known ? (Expression) output : Trees.nullLiteral(output.dataType()), output.name()));
    }
    letThrough.add(Trees.alias(Trees.trueLiteral(), NAME));
    LogicalPlan one = new Project(Trees.seq(own), plan);
    LogicalPlan other = new Project(Trees.seq(letThrough), below.markedRows());
    return ofLastColumn(Union$.MODULE$.apply(one, other));
  }
}
