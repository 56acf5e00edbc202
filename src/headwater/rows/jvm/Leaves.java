package headwater;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.PlanExpression;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.execution.datasources.LogicalRelation;
import org.apache.spark.sql.types.StructType;

/** The sources of a plan, each occurrence by itself, and how their rows are identified. */
public final class Leaves {
  // Pipelines carry the ids of items in columns named __hw_i….
  private static final String OWN_NAMES = "__hw_([a-hj-z]_?\\d.*|mark|path|from_(file|row))";
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
    refuseOwnNames(node);
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

  /** Columns are found by these names in the rewritten plan. */
  private void refuseOwnNames(LogicalPlan node) {
    List outputs = Trees.list(node.output());
    for (int i = 0; i < outputs.size(); i++) {
      String name = ((Attribute) outputs.get(i)).name();
      if (name.toLowerCase(Locale.ROOT).matches(OWN_NAMES)) {
        refusals.add("a column is named " + name + ", as columns that row lineage adds: rename it");
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
    if (fileMetadata(leaf, "row_index") != null) {
      return "position";
    }
    List hidden = Trees.list(leaf.metadataOutput());
    List names = new ArrayList();
    for (int i = 0; i < hidden.size(); i++) {
      names.add(((Attribute) hidden.get(i)).name());
    }
    return names.contains("_file") && names.contains("_pos") ? "table position" : "content";
  }

  /** A field of the hidden column with facts of files, as SQL; null if there is none. */
  private static String fileMetadata(LogicalPlan leaf, String field) {
    List hidden = Trees.list(leaf.metadataOutput());
    for (int i = 0; i < hidden.size(); i++) {
      Attribute attribute = (Attribute) hidden.get(i);
      boolean named = attribute.name().endsWith("_metadata"); // with more underscores if a column has that name
      if (named && attribute.dataType() instanceof StructType) {
        boolean present = Arrays.asList(((StructType) attribute.dataType()).fieldNames()).contains(field);
        return present ? RowHash.quoted(attribute.name()) + "." + field : null;
      }
    }
    return null;
  }

  private static String[] id(Source source) {
    if (source.id.equals("range")) {
      return new String[] {"'range'", "id"};
    }
    if (source.id.equals("position")) {
      return new String[] {fileMetadata(source.leaf, "file_path"), fileMetadata(source.leaf, "row_index")};
    }
    return new String[] {"_file", "_pos"};
  }

  /**
   * The leaf with the ids of its rows, and the value of the expression that the source is marked with. A condition is
   * not wrapped, so that the source can skip rows by it.
   */
  public LogicalPlan withIds(Source source) throws Exception {
    return withIds(source, new ArrayList());
  }

  private LogicalPlan withIds(Source source, List others) throws Exception {
    String prefix = " as `__hw_s" + source.number + "_";
    boolean content = source.id.equals("content");
    List texts = new ArrayList();
    if (ids && !content) {
      String[] id = id(source);
      texts.add(id[0] + prefix + "file`");
      texts.add(id[1] + prefix + "row`");
    }
    Object mark = marks.get(String.valueOf(source.number));
    if (mark != null) {
      texts.add("(" + mark + "\n)" + prefix + "hit`");
    }
    texts.addAll(others);
    source.added = texts.size() + (ids && content ? 2 : 0);
    LogicalPlan plan = trees.select(source.leaf, texts);
    return ids && content ? withContent(source, plan) : plan;
  }

  /** Equal rows cannot be distinguished, and need not be. */
  private LogicalPlan withContent(Source source, LogicalPlan plan) throws Exception {
    List outputs = Trees.list(plan.output());
    int own = Trees.list(source.leaf.output()).size();
    String prefix = "__hw_s" + source.number + "_";
    List halves = Arrays.asList(new Object[] {prefix + "hi", prefix + "lo"});
    LogicalPlan hashed = new RowHash(Boolean.TRUE).addTo(trees, plan, outputs.subList(0, own), halves);
    List texts = new ArrayList();
    String file = "lower(concat(lpad(hex(" + halves.get(0) + "), 16, '0'), lpad(hex(" + halves.get(1) + "), 16, '0')))";
    texts.add(file + " as `" + prefix + "file`");
    texts.add("0L as `" + prefix + "row`");
    LogicalPlan identified = trees.select(hashed, texts);
    List all = Trees.list(identified.output());
    List columns = new ArrayList(outputs.subList(0, own));
    columns.addAll(all.subList(all.size() - 2, all.size()));
    columns.addAll(outputs.subList(own, outputs.size()));
    return new Project(Trees.seq(columns), identified);
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

  /** Rows without a position, with the file that they are in as last column. */
  public LogicalPlan withPath(int number) throws Exception {
    Source source = (Source) sources.get(number);
    List path = new ArrayList();
    path.add(fileMetadata(source.leaf, "file_path") + " as `__hw_path`");
    return withIds(source, path);
  }

  public LogicalPlan withIds(int number) throws Exception {
    return withIds((Source) sources.get(number));
  }

  /** The options of a reader of files. */
  private static Map options(LogicalPlan leaf) {
    Map options = new LinkedHashMap();
    if (leaf instanceof LogicalRelation && ((LogicalRelation) leaf).relation() instanceof HadoopFsRelation) {
      HadoopFsRelation files = (HadoopFsRelation) ((LogicalRelation) leaf).relation();
      scala.collection.Iterator iterator = files.options().iterator();
      while (iterator.hasNext()) {
        scala.Tuple2 entry = (scala.Tuple2) iterator.next();
        options.put(String.valueOf(entry._1()), String.valueOf(entry._2()));
      }
    }
    return options;
  }

  public List describe() {
    List all = new ArrayList();
    for (int i = 0; i < sources.size(); i++) {
      Source source = (Source) sources.get(i);
      Map description = new LinkedHashMap();
      description.put("number", Integer.valueOf(source.number));
      description.put("kind", normalizer.isCollected(source.leaf) ? "Transpose" : Trees.name(source.leaf));
      description.put("id", source.id);
      description.put("inFiles", Boolean.valueOf(fileMetadata(source.leaf, "file_path") != null));
      description.put("options", options(source.leaf));
      description.put("columns", DeterminismCheck.describeColumns(Trees.list(source.leaf.output())));
      description.put("text", source.leaf.simpleString(10));
      all.add(description);
    }
    return all;
  }
}
