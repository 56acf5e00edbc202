package headwater;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.PlanExpression;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.types.StructType;

/** The sources of a plan, each occurrence by itself, and how their rows are identified. */
public final class Leaves {
  private final Trees trees;
  private final Normalizer normalizer;
  private final Map marks;
  private final boolean ids;
  private final List sources = new ArrayList();
  private final IdentityHashMap byLeaf = new IdentityHashMap();
  private final IdentityHashMap normalizedPlans = new IdentityHashMap();
  private final IdentityHashMap visited = new IdentityHashMap();
  private final List refusals = new ArrayList();

  public static final class Source {
    public int number;
    public LogicalPlan leaf;
    public String id;
    public int added;
  }

  public Leaves(Trees trees, Normalizer normalizer, LogicalPlan root, Map marks, boolean ids) throws Exception {
    this.trees = trees;
    this.normalizer = normalizer;
    this.marks = marks;
    this.ids = ids;
    find(root);
  }

  private void find(LogicalPlan node) throws Exception {
    if (normalizer.isDomain(node)) {
      return;
    }
    List children = Trees.list(node.children());
    boolean hasRows = !Trees.name(node).startsWith("OneRowRelation") && !OperatorKinds.isLoopReference(node);
    if (children.isEmpty() && hasRows) {
      Source source = new Source();
      source.number = sources.size();
      source.leaf = node;
      source.id = id(node);
      if (byLeaf.put(node, source) != null) {
        refusals.add("one leaf in two places: " + node.simpleString(10));
      }
      sources.add(source);
    }
    for (int i = 0; i < children.size(); i++) {
      find((LogicalPlan) children.get(i));
    }
    List subqueries = subqueries(node);
    for (int i = 0; i < subqueries.size(); i++) {
      if (visited.put(subqueries.get(i), Boolean.TRUE) == null) { // one value may be used several times
        find((LogicalPlan) subqueries.get(i));
      }
    }
  }

  /** The plans within the node's expressions: after normalization only uncorrelated scalar subqueries. */
  public List subqueries(LogicalPlan node) throws Exception {
    List expressions = Trees.list(node.expressions());
    List plans = new ArrayList();
    for (int i = 0; i < expressions.size(); i++) {
      collect((Expression) expressions.get(i), plans);
    }
    return plans;
  }

  private void collect(Expression expression, List plans) throws Exception {
    if (expression instanceof PlanExpression) {
      Object plan = ((PlanExpression) expression).plan();
      if (!Trees.name(expression).equals("ScalarSubquery") || !Trees.list(expression.children()).isEmpty()) {
        refusals.add("a subquery in this place: " + expression);
      } else {
        if (!normalizedPlans.containsKey(plan)) {
          normalizedPlans.put(plan, normalizer.normalize((LogicalPlan) plan));
        }
        plans.add(normalizedPlans.get(plan));
      }
    }
    List children = Trees.list(expression.children());
    for (int i = 0; i < children.size(); i++) {
      collect((Expression) children.get(i), plans);
    }
  }

  /** The plan of a subquery as its sources are numbered; null if it is not one of these. */
  public LogicalPlan normalizedPlan(PlanExpression subquery) {
    return (LogicalPlan) normalizedPlans.get(subquery.plan());
  }

  /** All plans within expressions of the whole plan. */
  public List subqueries() {
    return new ArrayList(normalizedPlans.values());
  }

  public Source source(LogicalPlan leaf) {
    return (Source) byLeaf.get(leaf);
  }

  public List refusals() {
    return refusals;
  }

  private static String id(LogicalPlan leaf) {
    if (Trees.name(leaf).equals("Range")) {
      return "range";
    }
    List hidden = Trees.list(leaf.metadataOutput());
    List names = new ArrayList();
    for (int i = 0; i < hidden.size(); i++) {
      Attribute attribute = (Attribute) hidden.get(i);
      names.add(attribute.name());
      boolean files = attribute.name().equals("_metadata") && attribute.dataType() instanceof StructType;
      if (files && Arrays.asList(((StructType) attribute.dataType()).fieldNames()).contains("row_index")) {
        return "position";
      }
    }
    return names.contains("_file") && names.contains("_pos") ? "table position" : "content";
  }

  private static final String CONTENT = "md5(to_json(struct(*), map('ignoreNullFields', 'false')))";

  private static String[] id(String kind) {
    if (kind.equals("range")) {
      return new String[] {"'range'", "id"};
    }
    if (kind.equals("position")) {
      return new String[] {"_metadata.file_path", "_metadata.row_index"};
    }
    if (kind.equals("table position")) {
      return new String[] {"_file", "_pos"};
    }
    return new String[] {CONTENT, "0L"}; // equal rows cannot be distinguished, and need not be
  }

  /**
   * The leaf with the ids of its rows, and the value of the expression that the source is marked with. A condition is
   * not wrapped, so that the source can skip rows by it.
   */
  public LogicalPlan withIds(Source source) throws Exception {
    String prefix = " as `__hw_s" + source.number + "_";
    String[] id = id(source.id);
    List texts = new ArrayList();
    if (ids) {
      texts.add(id[0] + prefix + "file`");
      texts.add(id[1] + prefix + "row`");
    }
    Object mark = marks.get(String.valueOf(source.number));
    if (mark != null) {
      texts.add("(" + mark + "\n)" + prefix + "hit`");
    }
    source.added = texts.size();
    return trees.select(source.leaf, texts);
  }

  /** The sources beneath a node, and in its subqueries. */
  public void collectLeaves(LogicalPlan node, List into) throws Exception {
    if (byLeaf.containsKey(node)) {
      into.add(node);
    }
    List below = Trees.list(node.children());
    below.addAll(subqueries(node));
    for (int i = 0; i < below.size(); i++) {
      collectLeaves((LogicalPlan) below.get(i), into);
    }
  }

  /** The numbers of the sources beneath a node. */
  public void collectNumbers(LogicalPlan node, List into) {
    if (byLeaf.containsKey(node)) {
      into.add(Integer.valueOf(source(node).number));
    }
    List children = Trees.list(node.children());
    for (int i = 0; i < children.size(); i++) {
      collectNumbers((LogicalPlan) children.get(i), into);
    }
  }

  public LogicalPlan leaf(int number) {
    return ((Source) sources.get(number)).leaf;
  }

  public LogicalPlan withIds(int number) throws Exception {
    return withIds((Source) sources.get(number));
  }

  public List describe() {
    List all = new ArrayList();
    for (int i = 0; i < sources.size(); i++) {
      Source source = (Source) sources.get(i);
      Map description = new LinkedHashMap();
      description.put("number", Integer.valueOf(source.number));
      description.put("kind", normalizer.isCollected(source.leaf) ? "Transpose" : Trees.name(source.leaf));
      description.put("id", source.id);
      description.put("columns", DeterminismCheck.describeColumns(Trees.list(source.leaf.output())));
      description.put("text", source.leaf.simpleString(10));
      all.add(description);
    }
    return all;
  }
}
