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
 * Splits a plan into blocks, each of which carries the ids of its source rows up to its top.
 *
 * A block ends where many rows become one (an aggregate), where rows only have to exist (the right of a semi-join), and
 * where a row sees others (a window). The plan below is a block of its own; the row above carries the values of the
 * link, by which its rows are found there. So rows are never multiplied by independent subqueries, and the ids of a
 * group are never collected in one place.
 */
public final class BlockBuilder {
  private static final List PASS_THROUGH = OperatorTraits.operatorsWith("passesIds");
  public static final List OMITTED = OperatorTraits.operatorsWith("omitted");
  private static final List ROW_SKIPPING = OperatorTraits.operatorsWith("linkedToAllRows");
  private static final List ORDER_DEPENDENT = OperatorTraits.operatorsWith("orderMatters");
  public static final List OPAQUE = OperatorTraits.operatorsWith("opaque");
  private static final List BOTH_SIDES =
      Arrays.asList(
          new Object[] {"Inner", "Cross", "LeftOuter", "RightOuter", "FullOuter", "LeftSingle"});

  private static final List HANDLED =
      Arrays.asList(new Object[] {"Project", "Aggregate", "Join", "Window", "Union", "Expand", "Sort", "Sample"});

  private final Trees trees;
  private final Normalizer normalizer;
  private final Leaves leaves;
  private final LogicalPlan root;
  private final boolean isUnlimited;
  private final List blocks = new ArrayList();
  private final List links = new ArrayList();
  private final Map blockOf = new LinkedHashMap();
  private final List refusals = new ArrayList();
  private final DeterminismCheck determinism;
  private final GroupedFunctions groupedFunctions;

  /**
   * ``marks``: SQL expressions by the number of a source; its rows carry the value. ``known``: the traced rows are
   * known to be in the result, so that limits at its top need not be computed again. ``ids``: rows of sources carry
   * their positions, and not only the mark. ``groupedFunctions``: functions of groups that return the group's key.
   */
  public BlockBuilder(
      Object session, Object analyzed, String marks, boolean known, boolean ids, GroupedFunctions groupedFunctions)
      throws Exception {
    this.groupedFunctions = groupedFunctions;
    trees = new Trees(session);
    normalizer = new Normalizer(session);
    if (((LogicalPlan) analyzed).isStreaming()) {
      refusals.add("a streaming query cannot be traced: trace its output");
    }
    LogicalPlan normalized = normalizer.normalize((LogicalPlan) analyzed);
    root = known ? TopKeys.withoutLimits(normalized) : normalized;
    isUnlimited = known && TopKeys.isLimited(normalized);
    leaves = new Leaves(trees, normalizer, root, (Map) new ObjectMapper().readValue(marks, Map.class), ids);
    determinism = new DeterminismCheck(root, leaves.subqueries());
    buildBlock(root, "output", root, new ArrayList());
    TopKeys topKeys = new TopKeys(root);
    for (int i = 0; i < links.size(); i++) {
      Link link = (Link) links.get(i);
      boolean top = ((Block) blocks.get(0)).links.contains(Integer.valueOf(i)) && link.conditionColumns.isEmpty();
      link.resultPlaces = top ? topKeys.resultPlaces(link.node, link.columns.size()) : null;
    }
  }

  // Blocks and links

  static final class AnnotatedPlan {
    LogicalPlan plan;
    List extra;

    AnnotatedPlan(LogicalPlan plan, List extra) {
      this.plan = plan;
      this.extra = Trees.outputs(plan, extra);
    }
  }

  private Block buildBlock(LogicalPlan owner, String kind, LogicalPlan below, List keys) throws Exception {
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
    AnnotatedPlan annotated = annotate(below, block, false);
    List columns = Trees.list(below.output());
    for (int i = 0; i < keys.size(); i++) {
      String name = "__hw_k" + block.number + "_" + i;
      if (((Expression) keys.get(i)).dataType().catalogString().contains("map<")) {
        refusals.add(Trees.name(owner) + " by a map, which cannot be compared: " + keys.get(i));
      }
      columns.add(Trees.alias((Expression) keys.get(i), name));
      block.keys.add(name);
    }
    columns.addAll(annotated.extra);
    block.plan = new Project(Trees.seq(columns), annotated.plan);
    return block;
  }

  private Link addLink(Block from, Block to, String kind, LogicalPlan node) {
    Link link = new Link(links.size(), to.number, kind, node);
    links.add(link);
    from.links.add(Integer.valueOf(link.number));
    return link;
  }

  /** Whether single rows can be followed through the operator: it is no code of a program, and none that is unknown. */
  public static boolean followsRows(LogicalPlan node) {
    String name = Trees.name(node);
    boolean isKnown = PASS_THROUGH.contains(name) || HANDLED.contains(name) || ROW_SKIPPING.contains(name);
    return isKnown && !OperatorKinds.isTableFunction(node);
  }

  // One method for each kind of operator. Blocks below are made before the row's own sources are looked at, so that
  // a block always has a higher number than those that lead to it.

  private AnnotatedPlan annotate(LogicalPlan node, Block block, boolean ordered) throws Exception {
    AnnotatedPlan annotated = operator(node, block, ordered);
    List subqueries = leaves.subqueries(node);
    if (subqueries.isEmpty()) {
      return annotated;
    }
    List extra = new ArrayList();
    for (int i = 0; i < subqueries.size(); i++) {
      LogicalPlan plan = (LogicalPlan) subqueries.get(i);
      Link link = addLink(block, buildBlock(plan, "constant", plan, new ArrayList()), "constant", node);
      extra.add(Trees.alias(Trees.trueLiteral(), link.present));
    }
    return addColumns(annotated, extra);
  }

  private AnnotatedPlan operator(LogicalPlan node, Block block, boolean ordered) throws Exception {
    String name = Trees.name(node);
    List children = Trees.list(node.children());
    if (children.isEmpty()) {
      return leaf(node, block);
    }
    if (normalizer.isDomain(node)) {
      return new AnnotatedPlan(node, new ArrayList());
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
      return ordered ? passThrough(node, annotate(child, block, true)) : annotate(child, block, false);
    }
    if (OMITTED.contains(name)) {
      return annotate(child, block, ordered);
    }
    if (OperatorKinds.isTableFunction(node)) {
      return opaque(node, block);
    }
    if (name.equals("Sample")) { // it counts rows, in their order
      return passThrough(node, annotate(child, block, true));
    }
    if (PASS_THROUGH.contains(name)) {
      return passThrough(node, annotate(child, block, ordered || ORDER_DEPENDENT.contains(name)));
    }
    if (ROW_SKIPPING.contains(name)) {
      return skipRows(node, child, block);
    }
    if (groupedFunctions.isReplaced(node)) {
      return grouped(node, block);
    }
    if (OperatorKinds.isLoop(node)) {
      return loop(node, block);
    }
    return opaque(node, block);
  }

  private AnnotatedPlan leaf(LogicalPlan leaf, Block block) throws Exception {
    Leaves.Source source = leaves.source(leaf);
    if (source == null) {
      return new AnnotatedPlan(leaf, new ArrayList());
    }
    block.sources.add(Integer.valueOf(source.number));
    LogicalPlan plan = leaves.withIds(source);
    List outputs = Trees.list(plan.output());
    return new AnnotatedPlan(plan, outputs.subList(outputs.size() - source.added, outputs.size()));
  }

  private AnnotatedPlan project(Project project, Block block, boolean ordered) throws Exception {
    AnnotatedPlan child = annotate(project.child(), block, ordered);
    List columns = Trees.list(project.projectList());
    columns.addAll(child.extra);
    return new AnnotatedPlan(new Project(Trees.seq(columns), child.plan), child.extra);
  }

  private static AnnotatedPlan passThrough(LogicalPlan node, AnnotatedPlan child) {
    List children = new ArrayList();
    children.add(child.plan);
    return new AnnotatedPlan(Trees.withChildren(node, children), child.extra);
  }

  private static AnnotatedPlan addColumns(AnnotatedPlan annotated, List extra) {
    List columns = Trees.list(annotated.plan.output());
    columns.addAll(extra);
    LogicalPlan plan = new Project(Trees.seq(columns), annotated.plan);
    List outputs = Trees.list(plan.output());
    List all = new ArrayList(annotated.extra);
    all.addAll(outputs.subList(outputs.size() - extra.size(), outputs.size()));
    return new AnnotatedPlan(plan, all);
  }

  /** The group's key leads to its rows; no ids are collected, and the aggregate runs unchanged. */
  private AnnotatedPlan aggregate(Aggregate node, Block block) throws Exception {
    List groups = Trees.list(node.groupingExpressions());
    List columns = Trees.list(node.aggregateExpressions());
    String kind = DeterminismCheck.choosesRows(columns) ? "chosen" : "aggregate";
    Link link = addLink(block, buildBlock(node, "aggregate", node.child(), groups), kind, node);
    int own = columns.size();
    for (int i = 0; i < groups.size(); i++) {
      String name = link.nextColumn();
      columns.add(Trees.alias((Expression) groups.get(i), name));
      link.columns.add(name);
      link.nullSafe.add(Boolean.TRUE);
    }
    columns.add(Trees.alias(Trees.trueLiteral(), link.present));
    LogicalPlan plan = Trees.with(node, 1, Trees.seq(columns));
    List outputs = Trees.list(plan.output());
    return new AnnotatedPlan(plan, outputs.subList(own, outputs.size()));
  }

  /** The row itself, and every row that its window values may come from. */
  private AnnotatedPlan window(Window node, Block block, boolean ordered) throws Exception {
    List parts = Trees.list(node.partitionSpec());
    Link link = addLink(block, buildBlock(node, "window", node.child(), parts), "window", node);
    AnnotatedPlan annotated = passThrough(node, annotate(node.child(), block, ordered));
    List extra = new ArrayList();
    for (int i = 0; i < parts.size(); i++) {
      String name = link.nextColumn();
      extra.add(Trees.alias((Expression) parts.get(i), name));
      link.columns.add(name);
      link.nullSafe.add(Boolean.TRUE);
    }
    extra.add(Trees.alias(Trees.trueLiteral(), link.present));
    return addColumns(annotated, extra);
  }

  private AnnotatedPlan join(Join node, Block block) throws Exception {
    String type = node.joinType().toString();
    if (BOTH_SIDES.contains(type)) {
      AnnotatedPlan left = annotate(node.left(), block, false);
      AnnotatedPlan right = annotate(node.right(), block, false);
      List children = new ArrayList();
      children.add(left.plan);
      children.add(right.plan);
      List extra = new ArrayList(left.extra);
      extra.addAll(right.extra);
      return new AnnotatedPlan(Trees.withChildren(node, children), extra);
    }
    if (type.equals("LeftAnti")) { // missing rows cannot be traced
      return passLeft(node, annotate(node.left(), block, false));
    }
    if (type.equals("LeftSemi") || type.startsWith("ExistenceJoin")) {
      return semiJoin(node, block);
    }
    refusals.add(type + " join: " + node.simpleString(10));
    return new AnnotatedPlan(node, new ArrayList());
  }

  private static AnnotatedPlan passLeft(Join node, AnnotatedPlan left) {
    List children = new ArrayList();
    children.add(left.plan);
    children.add(node.right());
    return new AnnotatedPlan(Trees.withChildren(node, children), left.extra);
  }

  /** Semi-joins: the row on the left, linked to all rows on the right that it matches. */
  private AnnotatedPlan semiJoin(Join node, Block block) throws Exception {
    List keys = new ArrayList();
    List probes = new ArrayList();
    List otherConditions = new ArrayList();
    List conditions = new ArrayList();
    if (node.condition().isDefined()) {
      Conditions.conjuncts((Expression) node.condition().get(), conditions);
    }
    List nullSafe = new ArrayList();
    for (int i = 0; i < conditions.size(); i++) {
      Expression condition = (Expression) conditions.get(i);
      Expression[] sides = Conditions.equalSides(condition, node.left(), node.right());
      if (sides == null) {
        otherConditions.add(condition);
      } else {
        probes.add(sides[0]);
        keys.add(sides[1]);
        nullSafe.add(Boolean.valueOf(condition instanceof EqualNullSafe));
      }
    }
    Link link = addLink(block, buildBlock(node, "matched", node.right(), keys), "matched", node);
    AnnotatedPlan annotated = passLeft(node, annotate(node.left(), block, false));
    List extra = new ArrayList();
    for (int i = 0; i < probes.size(); i++) {
      String name = link.nextColumn();
      extra.add(Trees.alias((Expression) probes.get(i), name));
      link.columns.add(name);
      link.nullSafe.add(nullSafe.get(i));
    }
    link.conditions = otherConditions;
    List left = Trees.list(node.left().output());
    for (int i = 0; i < left.size(); i++) {
      Attribute attribute = (Attribute) left.get(i);
      if (Conditions.refersTo(otherConditions, attribute)) {
        String name = link.nextColumn();
        link.conditionInputs.add(attribute);
        link.conditionColumns.add(name);
        extra.add(Trees.alias(attribute, name));
      }
    }
    extra.add(Trees.alias(present(node), link.present));
    return addColumns(annotated, extra);
  }

  private static Expression present(Join node) throws Exception {
    if (node.joinType().toString().equals("LeftSemi")) {
      return Trees.trueLiteral();
    }
    Expression exists = (Expression) Trees.call(node.joinType(), "exists");
    return new If(exists, Trees.trueLiteral(), Trees.nullLiteral(BooleanType$.MODULE$));
  }

  /** Each branch has its own columns, and nulls in those of the others. */
  private AnnotatedPlan union(Union node, Block block) throws Exception {
    List children = Trees.list(node.children());
    List branches = new ArrayList();
    for (int i = 0; i < children.size(); i++) {
      branches.add(annotate((LogicalPlan) children.get(i), block, false));
    }
    List padded = new ArrayList();
    int own = node.output().size();
    for (int i = 0; i < branches.size(); i++) {
      List columns = Trees.list(((LogicalPlan) children.get(i)).output());
      for (int j = 0; j < branches.size(); j++) {
        List extra = ((AnnotatedPlan) branches.get(j)).extra;
        for (int k = 0; k < extra.size(); k++) {
          Attribute attribute = (Attribute) extra.get(k);
          Expression value = i == j ? (Expression) attribute : (Expression) Trees.nullLiteral(attribute.dataType());
          columns.add(Trees.alias(value, attribute.name()));
        }
      }
      padded.add(new Project(Trees.seq(columns), ((AnnotatedPlan) branches.get(i)).plan));
    }
    LogicalPlan plan = Trees.withChildren(node, padded);
    List outputs = Trees.list(plan.output());
    return new AnnotatedPlan(plan, outputs.subList(own, outputs.size()));
  }

  private AnnotatedPlan expand(Expand node, Block block) throws Exception {
    AnnotatedPlan child = annotate(node.child(), block, false);
    List projections = new ArrayList();
    List nodeProjections = Trees.list(node.projections());
    for (int i = 0; i < nodeProjections.size(); i++) {
      List projection = Trees.list(nodeProjections.get(i));
      projection.addAll(child.extra);
      projections.add(Trees.seq(projection));
    }
    List output = Trees.list(node.output());
    output.addAll(child.extra);
    Expand plan = new Expand(Trees.seq(projections), Trees.seq(output), child.plan);
    return new AnnotatedPlan(plan, child.extra);
  }

  /** Whether a row is skipped depends on all rows before it. */
  private AnnotatedPlan skipRows(LogicalPlan node, LogicalPlan child, Block block) throws Exception {
    Link link = addLink(block, buildBlock(node, "all", child, new ArrayList()), "all", node);
    List extra = new ArrayList();
    extra.add(Trees.alias(Trees.trueLiteral(), link.present));
    return addColumns(passThrough(node, annotate(child, block, true)), extra);
  }

  /** Code that takes a group and returns rows: each of them may come from any row of the group. */
  private AnnotatedPlan grouped(LogicalPlan node, Block block) throws Exception {
    List children = Trees.list(node.children());
    List names = new ArrayList();
    List links = new ArrayList();
    for (int side = 0; side < children.size(); side++) {
      List keys = GroupedFunctions.keys(node, side);
      LogicalPlan child = (LogicalPlan) children.get(side);
      Link link = addLink(block, buildBlock(child, "grouped", child, keys), "grouped", node);
      for (int i = 0; i < keys.size(); i++) {
        if (side == 0) {
          names.add(link.nextColumn());
        }
        link.columns.add(side == 0 ? names.get(i) : link.nextColumn());
        link.nullSafe.add(Boolean.TRUE);
      }
      links.add(link);
    }
    LogicalPlan plan = groupedFunctions.withKeys(node, names);
    List outputs = Trees.list(plan.output());
    List annotated = outputs.subList(outputs.size() - names.size(), outputs.size());
    List extra = new ArrayList();
    for (int side = 0; side < links.size(); side++) {
      Link link = (Link) links.get(side);
      for (int i = 0; side > 0 && i < names.size(); i++) {
        extra.add(Trees.alias((Expression) annotated.get(i), (String) link.columns.get(i)));
      }
      extra.add(Trees.alias(Trees.trueLiteral(), link.present));
    }
    return addColumns(new AnnotatedPlan(plan, annotated), extra);
  }

  /** Code that takes rows and returns rows: each of them may come from any row below. */
  private AnnotatedPlan opaque(LogicalPlan node, Block block) throws Exception {
    List children = Trees.list(node.children());
    List extra = new ArrayList();
    for (int i = 0; i < children.size(); i++) {
      LogicalPlan child = (LogicalPlan) children.get(i);
      Link link = addLink(block, buildBlock(child, "all", child, new ArrayList()), "all", node);
      extra.add(Trees.alias(Trees.trueLiteral(), link.present));
    }
    return addColumns(new AnnotatedPlan(node, new ArrayList()), extra);
  }

  /** A recursive query: each of its rows may come from any row of the sources below. */
  private AnnotatedPlan loop(LogicalPlan node, Block block) throws Exception {
    List below = new ArrayList();
    leaves.collectLeaves(node, below);
    List extra = new ArrayList();
    for (int i = 0; i < below.size(); i++) {
      LogicalPlan leaf = (LogicalPlan) below.get(i);
      Link link = addLink(block, buildBlock(leaf, "all", leaf, new ArrayList()), "all", node);
      extra.add(Trees.alias(Trees.trueLiteral(), link.present));
    }
    return addColumns(new AnnotatedPlan(node, new ArrayList()), extra);
  }

  // The interface for Python

  /** Joins between its blocks. */
  public BlockJoins joins() {
    return new BlockJoins(trees, root, blocks, links);
  }

  /** The path of a carried column up to the top of a block. */
  public BlockPath blockPath(int block, String column) {
    return new BlockPath(trees, ((Block) blocks.get(block)).plan, column);
  }

  /** The rows of one source with their ids. */
  public Object source(int number) throws Exception {
    return trees.frame(leaves.withIds(number));
  }

  /** The whole normalized plan. */
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
    Map description = new LinkedHashMap();
    description.put("columns", DeterminismCheck.describeColumns(Trees.list(root.output())));
    description.put("identity", determinism.identity());
    description.put("unstable", determinism.unstable());
    description.put("notes", determinism.notes());
    description.put("unlimited", Boolean.valueOf(isUnlimited));
    List refused = new ArrayList(determinism.refusals());
    refused.addAll(refusals);
    refused.addAll(leaves.refusals());
    description.put("refusals", refused);
    description.put("sources", leaves.describe());
    List all = new ArrayList();
    for (int i = 0; i < blocks.size(); i++) {
      all.add(((Block) blocks.get(i)).describe(links));
    }
    description.put("blocks", all);
    return new ObjectMapper().writeValueAsString(description);
  }
}
