package headwater;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import com.fasterxml.jackson.databind.ObjectMapper;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.EqualNullSafe;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.If;
import org.apache.spark.sql.catalyst.plans.logical.Aggregate;
import org.apache.spark.sql.catalyst.plans.logical.Expand;
import org.apache.spark.sql.catalyst.plans.logical.Join;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.catalyst.plans.logical.Union;
import org.apache.spark.sql.catalyst.plans.logical.Window;
import org.apache.spark.sql.types.BooleanType$;

/**
 * A plan, taken apart into blocks, each of which carries the ids of its source rows up to its top.
 *
 * A block ends where many rows become one (an aggregate), where rows only have to exist (the right of a semi-join), and
 * where a row sees others (a window). What lies below such a place is a block of its own; the row above carries the
 * values by which its rows are found there, the link. So no row ever meets the product of independent subqueries, and
 * a group's ids are never gathered in one place.
 */
public final class Carry {
  private static final List PASSED_THROUGH =
      Arrays.asList(
          new Object[] {
            "Filter", "GlobalLimit", "LocalLimit", "Repartition", "RepartitionByExpression", "RebalancePartitions",
            "SubqueryAlias", "ResolvedHint", "Generate", "EventTimeWatermark"
          });
  public static final List LEFT_OUT = Arrays.asList(new Object[] {"CollectMetrics", "View"});
  private static final List SKIPPING = Arrays.asList(new Object[] {"Offset", "Tail"});
  public static final List OPAQUE =
      Arrays.asList(
          new Object[] {
            "MapInPandas", "MapInArrow", "PythonMapInArrow", "FlatMapGroupsInPandas", "FlatMapGroupsInArrow",
            "FlatMapCoGroupsInPandas", "FlatMapCoGroupsInArrow"
          });
  private static final List BOTH_SIDES =
      Arrays.asList(
          new Object[] {"Inner", "Cross", "LeftOuter", "RightOuter", "FullOuter", "LeftSingle"});

  private final Trees trees;
  private final Normal normal;
  private final Leaves leaves;
  private final LogicalPlan root;
  private final List blocks = new ArrayList();
  private final List links = new ArrayList();
  private final Map blockOf = new LinkedHashMap();
  private final List refusals = new ArrayList();
  private final Sound sound;
  private final Grouped grouped;

  /**
   * ``marks``: SQL conditions by the number of a source; its rows then carry whether they meet it. ``known``: the rows
   * that will be asked about are known to be in the result, so that no limit at its top needs to be computed again.
   * ``ids``: rows of sources carry where they lie, and not only the mark. ``grouped``: the functions of groups that can
   * say which group their rows are of.
   */
  public Carry(Object session, Object analyzed, String marks, boolean known, boolean ids, Grouped grouped)
      throws Exception {
    this.grouped = grouped;
    trees = new Trees(session);
    normal = new Normal(session);
    if (((LogicalPlan) analyzed).isStreaming()) {
      refusals.add("a streaming query: trace what it wrote");
    }
    LogicalPlan whole = normal.of((LogicalPlan) analyzed);
    root = known ? Spine.unlimited(whole) : whole;
    leaves = new Leaves(trees, normal, root, (Map) new ObjectMapper().readValue(marks, Map.class), ids);
    sound = new Sound(root, leaves.subqueries());
    block(root, "output", root, new ArrayList());
    Spine spine = new Spine(root);
    for (int i = 0; i < links.size(); i++) {
      Link link = (Link) links.get(i);
      boolean top = ((Block) blocks.get(0)).links.contains(Integer.valueOf(i)) && link.seenAs.isEmpty();
      link.direct = top ? spine.places(link.node, link.columns.size()) : null;
    }
  }

  // What it is made of

  static final class Carried {
    LogicalPlan plan;
    List extra;

    Carried(LogicalPlan plan, List extra) {
      this.plan = plan;
      this.extra = Trees.outputs(plan, extra);
    }
  }

  private Block block(LogicalPlan owner, String kind, LogicalPlan below, List keys) throws Exception {
    IdentityHashMap known = (IdentityHashMap) blockOf.get(kind); // one node may be the top of two kinds of block
    if (known == null) {
      known = new IdentityHashMap();
      blockOf.put(kind, known);
    }
    if (known.containsKey(owner)) {
      return (Block) known.get(owner);
    }
    Block block = new Block(blocks.size(), kind, owner);
    blocks.add(block);
    known.put(owner, block);
    Carried carried = carry(below, block, false);
    List columns = Trees.list(below.output());
    for (int i = 0; i < keys.size(); i++) {
      String name = "__hw_k" + block.number + "_" + i;
      if (((Expression) keys.get(i)).dataType().catalogString().contains("map<")) {
        refusals.add(Trees.name(owner) + " by a map, which nothing can be compared with: " + keys.get(i));
      }
      columns.add(Trees.alias((Expression) keys.get(i), name));
      block.keys.add(name);
    }
    columns.addAll(carried.extra);
    block.plan = new Project(Trees.seq(columns), carried.plan);
    return block;
  }

  private Link link(Block from, Block to, String kind, LogicalPlan node) {
    Link link = new Link(links.size(), to.number, kind, node);
    links.add(link);
    from.links.add(Integer.valueOf(link.number));
    return link;
  }

  // The rules, one for each kind of operator. Blocks below are made before the row's own sources are looked at, so that
  // a block always has a higher number than those that lead to it.

  private Carried carry(LogicalPlan node, Block block, boolean ordered) throws Exception {
    Carried carried = operator(node, block, ordered);
    List subqueries = leaves.subqueries(node);
    if (subqueries.isEmpty()) {
      return carried;
    }
    List extra = new ArrayList();
    for (int i = 0; i < subqueries.size(); i++) {
      LogicalPlan plan = (LogicalPlan) subqueries.get(i);
      Link link = link(block, block(plan, "constant", plan, new ArrayList()), "constant", node);
      extra.add(Trees.alias(Trees.truth(), link.here));
    }
    return added(carried, extra);
  }

  private Carried operator(LogicalPlan node, Block block, boolean ordered) throws Exception {
    String name = Trees.name(node);
    List children = Trees.list(node.children());
    if (children.isEmpty()) {
      return leaf(node, block);
    }
    LogicalPlan child = (LogicalPlan) children.get(0);
    if (node instanceof Project) {
      return project((Project) node, block, ordered);
    }
    if (node instanceof Aggregate) {
      return aggregate((Aggregate) node, block);
    }
    if (node instanceof Join) {
      return join((Join) node, block);
    }
    if (node instanceof Window) {
      return window((Window) node, block, ordered);
    }
    if (node instanceof Union) {
      return union((Union) node, block);
    }
    if (node instanceof Expand) {
      return expand((Expand) node, block);
    }
    if (name.equals("Sort")) {
      return ordered ? passed(node, carry(child, block, true)) : carry(child, block, false);
    }
    if (LEFT_OUT.contains(name)) {
      return carry(child, block, ordered);
    }
    if (PASSED_THROUGH.contains(name)) {
      return passed(node, carry(child, block, ordered || name.endsWith("Limit")));
    }
    if (SKIPPING.contains(name)) {
      return skipping(node, child, block);
    }
    if (grouped.has(node)) {
      return grouped(node, block);
    }
    if (OPAQUE.contains(name)) {
      return opaque(node, block);
    }
    refusals.add(name + ": " + node.simpleString(10));
    return new Carried(node, new ArrayList());
  }

  private Carried leaf(LogicalPlan leaf, Block block) throws Exception {
    Leaves.Source source = leaves.source(leaf);
    if (source == null) {
      return new Carried(leaf, new ArrayList());
    }
    block.sources.add(Integer.valueOf(source.number));
    LogicalPlan plan = leaves.identified(source);
    List outputs = Trees.list(plan.output());
    return new Carried(plan, outputs.subList(outputs.size() - source.added, outputs.size()));
  }

  private Carried project(Project project, Block block, boolean ordered) throws Exception {
    Carried child = carry(project.child(), block, ordered);
    List columns = Trees.list(project.projectList());
    columns.addAll(child.extra);
    return new Carried(new Project(Trees.seq(columns), child.plan), child.extra);
  }

  private static Carried passed(LogicalPlan node, Carried child) {
    List children = new ArrayList();
    children.add(child.plan);
    return new Carried(Trees.withChildren(node, children), child.extra);
  }

  private static Carried added(Carried carried, List extra) {
    List columns = Trees.list(carried.plan.output());
    columns.addAll(extra);
    LogicalPlan plan = new Project(Trees.seq(columns), carried.plan);
    List outputs = Trees.list(plan.output());
    List all = new ArrayList(carried.extra);
    all.addAll(outputs.subList(outputs.size() - extra.size(), outputs.size()));
    return new Carried(plan, all);
  }

  /** The group's key leads to its rows; nothing is gathered, and the aggregate runs as it is. */
  private Carried aggregate(Aggregate node, Block block) throws Exception {
    List groups = Trees.list(node.groupingExpressions());
    List columns = Trees.list(node.aggregateExpressions());
    String kind = Sound.choosesRows(columns) ? "chosen" : "aggregate";
    Link link = link(block, block(node, "aggregate", node.child(), groups), kind, node);
    int own = columns.size();
    for (int i = 0; i < groups.size(); i++) {
      String name = link.next();
      columns.add(Trees.alias((Expression) groups.get(i), name));
      link.columns.add(name);
      link.safe.add(Boolean.TRUE);
    }
    columns.add(Trees.alias(Trees.truth(), link.here));
    LogicalPlan plan = Trees.with(node, 1, Trees.seq(columns));
    List outputs = Trees.list(plan.output());
    return new Carried(plan, outputs.subList(own, outputs.size()));
  }

  /** The row itself, and every row that its values may have been computed from. */
  private Carried window(Window node, Block block, boolean ordered) throws Exception {
    List parts = Trees.list(node.partitionSpec());
    Link link = link(block, block(node, "window", node.child(), parts), "window", node);
    Carried carried = passed(node, carry(node.child(), block, ordered));
    List extra = new ArrayList();
    for (int i = 0; i < parts.size(); i++) {
      String name = link.next();
      extra.add(Trees.alias((Expression) parts.get(i), name));
      link.columns.add(name);
      link.safe.add(Boolean.TRUE);
    }
    extra.add(Trees.alias(Trees.truth(), link.here));
    return added(carried, extra);
  }

  private Carried join(Join node, Block block) throws Exception {
    String type = node.joinType().toString();
    if (BOTH_SIDES.contains(type)) {
      Carried left = carry(node.left(), block, false);
      Carried right = carry(node.right(), block, false);
      List children = new ArrayList();
      children.add(left.plan);
      children.add(right.plan);
      List extra = new ArrayList(left.extra);
      extra.addAll(right.extra);
      return new Carried(Trees.withChildren(node, children), extra);
    }
    if (type.equals("LeftAnti")) { // the rows that are not there cannot be traced
      return passedLeft(node, carry(node.left(), block, false));
    }
    if (type.equals("LeftSemi") || type.startsWith("ExistenceJoin")) {
      return matched(node, block);
    }
    refusals.add(type + " join: " + node.simpleString(10));
    return new Carried(node, new ArrayList());
  }

  private static Carried passedLeft(Join node, Carried left) {
    List children = new ArrayList();
    children.add(left.plan);
    children.add(node.right());
    return new Carried(Trees.withChildren(node, children), left.extra);
  }

  /** Semi-joins: the row on the left, linked to all the rows on the right that it matches. */
  private Carried matched(Join node, Block block) throws Exception {
    List keys = new ArrayList();
    List found = new ArrayList();
    List rest = new ArrayList();
    List conditions = new ArrayList();
    if (node.condition().isDefined()) {
      Conditions.conjuncts((Expression) node.condition().get(), conditions);
    }
    List safe = new ArrayList();
    for (int i = 0; i < conditions.size(); i++) {
      Expression condition = (Expression) conditions.get(i);
      Expression[] sides = Conditions.equated(condition, node.left(), node.right());
      if (sides == null) {
        rest.add(condition);
      } else {
        found.add(sides[0]);
        keys.add(sides[1]);
        safe.add(Boolean.valueOf(condition instanceof EqualNullSafe));
      }
    }
    Link link = link(block, block(node, "matched", node.right(), keys), "matched", node);
    Carried carried = passedLeft(node, carry(node.left(), block, false));
    List extra = new ArrayList();
    for (int i = 0; i < found.size(); i++) {
      String name = link.next();
      extra.add(Trees.alias((Expression) found.get(i), name));
      link.columns.add(name);
      link.safe.add(safe.get(i));
    }
    link.conditions = rest;
    List left = Trees.list(node.left().output());
    for (int i = 0; i < left.size(); i++) {
      Attribute attribute = (Attribute) left.get(i);
      if (Conditions.refersTo(rest, attribute)) {
        String name = link.next();
        link.seen.add(attribute);
        link.seenAs.add(name);
        extra.add(Trees.alias(attribute, name));
      }
    }
    extra.add(Trees.alias(present(node), link.here));
    return added(carried, extra);
  }

  private static Expression present(Join node) throws Exception {
    if (node.joinType().toString().equals("LeftSemi")) {
      return Trees.truth();
    }
    Expression exists = (Expression) Trees.call(node.joinType(), "exists");
    return new If(exists, Trees.truth(), Trees.nothing(BooleanType$.MODULE$));
  }

  /** Each branch has its own columns, and nothing in those of the others. */
  private Carried union(Union node, Block block) throws Exception {
    List children = Trees.list(node.children());
    List branches = new ArrayList();
    for (int i = 0; i < children.size(); i++) {
      branches.add(carry((LogicalPlan) children.get(i), block, false));
    }
    List padded = new ArrayList();
    int own = node.output().size();
    for (int i = 0; i < branches.size(); i++) {
      List columns = Trees.list(((LogicalPlan) children.get(i)).output());
      for (int j = 0; j < branches.size(); j++) {
        List extra = ((Carried) branches.get(j)).extra;
        for (int k = 0; k < extra.size(); k++) {
          Attribute attribute = (Attribute) extra.get(k);
          Expression value = i == j ? (Expression) attribute : (Expression) Trees.nothing(attribute.dataType());
          columns.add(Trees.alias(value, attribute.name()));
        }
      }
      padded.add(new Project(Trees.seq(columns), ((Carried) branches.get(i)).plan));
    }
    LogicalPlan plan = Trees.withChildren(node, padded);
    List outputs = Trees.list(plan.output());
    return new Carried(plan, outputs.subList(own, outputs.size()));
  }

  private Carried expand(Expand node, Block block) throws Exception {
    Carried child = carry(node.child(), block, false);
    List projections = new ArrayList();
    List each = Trees.list(node.projections());
    for (int i = 0; i < each.size(); i++) {
      List projection = Trees.list(each.get(i));
      projection.addAll(child.extra);
      projections.add(Trees.seq(projection));
    }
    List output = Trees.list(node.output());
    output.addAll(child.extra);
    Expand plan = new Expand(Trees.seq(projections), Trees.seq(output), child.plan);
    return new Carried(plan, child.extra);
  }

  /** Whether a row is reached depends on all those before it. */
  private Carried skipping(LogicalPlan node, LogicalPlan child, Block block) throws Exception {
    Link link = link(block, block(node, "all", child, new ArrayList()), "all", node);
    List extra = new ArrayList();
    extra.add(Trees.alias(Trees.truth(), link.here));
    return added(passed(node, carry(child, block, true)), extra);
  }

  /** Code that takes a group and gives rows: any of those above may come from any row of their group. */
  private Carried grouped(LogicalPlan node, Block block) throws Exception {
    List children = Trees.list(node.children());
    List names = new ArrayList();
    List found = new ArrayList();
    for (int side = 0; side < children.size(); side++) {
      List keys = Grouped.keys(node, side);
      LogicalPlan child = (LogicalPlan) children.get(side);
      Link link = link(block, block(child, "grouped", child, keys), "grouped", node);
      for (int i = 0; i < keys.size(); i++) {
        if (side == 0) {
          names.add(link.next());
        }
        link.columns.add(side == 0 ? names.get(i) : link.next());
        link.safe.add(Boolean.TRUE);
      }
      found.add(link);
    }
    LogicalPlan plan = grouped.keyed(node, names);
    List outputs = Trees.list(plan.output());
    List carried = outputs.subList(outputs.size() - names.size(), outputs.size());
    List extra = new ArrayList();
    for (int side = 0; side < found.size(); side++) {
      Link link = (Link) found.get(side);
      for (int i = 0; side > 0 && i < names.size(); i++) {
        extra.add(Trees.alias((Expression) carried.get(i), (String) link.columns.get(i)));
      }
      extra.add(Trees.alias(Trees.truth(), link.here));
    }
    return added(new Carried(plan, carried), extra);
  }

  /** Code that takes rows and gives rows: any of those above may come from any of those below. */
  private Carried opaque(LogicalPlan node, Block block) throws Exception {
    List children = Trees.list(node.children());
    List extra = new ArrayList();
    for (int i = 0; i < children.size(); i++) {
      LogicalPlan child = (LogicalPlan) children.get(i);
      Link link = link(block, block(child, "all", child, new ArrayList()), "all", node);
      extra.add(Trees.alias(Trees.truth(), link.here));
    }
    return added(new Carried(node, new ArrayList()), extra);
  }

  // What is asked of it

  /** Between its blocks. */
  public Ways ways() {
    return new Ways(trees, root, blocks, links);
  }

  /** The way of what a block's rows carry under a name, up to its top. */
  public Course course(int block, String carried) {
    return new Course(trees, ((Block) blocks.get(block)).plan, carried);
  }

  /** The rows of one source with their ids, by itself. */
  public Object source(int number) throws Exception {
    return trees.frame(leaves.identified(number));
  }

  /** The whole plan, normalised; its sources; and Spark: for those who look at it otherwise. */
  public LogicalPlan root() {
    return root;
  }

  public Leaves leaves() {
    return leaves;
  }

  public Trees trees() {
    return trees;
  }

  /** The plan's own leaf. */
  public Object leaf(int number) {
    return leaves.leaf(number);
  }

  public String describe() throws Exception {
    Map said = new LinkedHashMap();
    said.put("columns", Sound.described(Trees.list(root.output())));
    said.put("identity", sound.identity());
    said.put("unstable", sound.unstable());
    said.put("notes", sound.notes());
    List refused = new ArrayList(sound.refusals());
    refused.addAll(refusals);
    refused.addAll(leaves.refusals());
    said.put("refusals", refused);
    said.put("sources", leaves.described());
    List all = new ArrayList();
    for (int i = 0; i < blocks.size(); i++) {
      all.add(((Block) blocks.get(i)).described(links));
    }
    said.put("blocks", all);
    return new ObjectMapper().writeValueAsString(said);
  }
}
