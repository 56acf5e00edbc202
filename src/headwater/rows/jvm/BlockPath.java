package headwater;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import com.fasterxml.jackson.databind.ObjectMapper;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.EqualNullSafe;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Not;
import org.apache.spark.sql.catalyst.plans.LeftAnti$;
import org.apache.spark.sql.catalyst.plans.LeftSemi$;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.Join;
import org.apache.spark.sql.catalyst.plans.logical.JoinHint;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;

/**
 * The path of a carried column up to the top of a block, operator by operator: the rows that each operator drops, and
 * the other sources that they are joined with. A filter drops the rows for which its condition is not true; a join
 * drops those without a match.
 *
 * ``steps`` begin at the leaf, so that of two paths over the same rows the shorter is a prefix of the longer. A path is
 * not simple where rows are multiplied, sampled or limited, or come from two branches.
 */
public final class BlockPath {
  private static final List ROW_PRESERVING = OperatorTraits.operatorsWith("everyRow");
  private final Trees trees;
  private final List steps = new ArrayList();
  private final List droppedPlans = new ArrayList();
  private boolean simple = true;

  public BlockPath(Trees trees, LogicalPlan plan, String column) {
    this.trees = trees;
    Attribute mark = Conditions.columnOf(plan, column);
    climb(plan, mark);
  }

  private void climb(LogicalPlan node, Attribute mark) {
    List children = Trees.list(node.children());
    LogicalPlan below = null;
    for (int i = 0; i < children.size(); i++) {
      if (((LogicalPlan) children.get(i)).outputSet().contains(mark)) {
        below = (LogicalPlan) children.get(i);
      }
    }
    if (below == null) { // the column begins here: at a leaf, an aggregate or a union
      simple = !Trees.name(node).equals("Union") && !Trees.name(node).equals("Expand");
      return;
    }
    climb(below, mark);
    if (node instanceof Filter) {
      Expression condition = ((Filter) node).condition();
      drop("WHERE " + condition, new Filter(new Not(new EqualNullSafe(condition, Trees.trueLiteral())), below));
    } else if (node instanceof Join) {
      join((Join) node, below);
    } else if (!ROW_PRESERVING.contains(Trees.name(node))) {
      simple = false;
    }
  }

  private void join(Join node, LogicalPlan child) {
    boolean left = node.left() == child;
    LogicalPlan otherSide = left ? node.right() : node.left();
    String type = node.joinType().toString();
    boolean isOuter = type.equals(left ? "LeftOuter" : "RightOuter");
    boolean keepsUnmatched = type.equals("FullOuter") || isOuter || type.equals("LeftSingle");
    if (type.startsWith("ExistenceJoin")) {
      return;
    }
    if (!type.equals("LeftSemi") && !type.equals("LeftAnti")) {
      addStep("join", type);
      addMeetings(otherSide);
    }
    if (!keepsUnmatched) {
      // An anti-join drops the rows that have a match.
      Object joinType = type.equals("LeftAnti") ? LeftSemi$.MODULE$ : (Object) LeftAnti$.MODULE$;
      List fields = Arrays.asList(Trees.fields(node));
      Object[] copyFields = new Object[] {child, otherSide, joinType, fields.get(3), JoinHint.NONE()};
      LogicalPlan droppedPlan = (LogicalPlan) node.makeCopy(copyFields);
      drop(type + " " + node.condition(), droppedPlan);
    }
  }

  private void addMeetings(LogicalPlan otherSide) {
    List outputs = Trees.list(otherSide.output());
    for (int i = 0; i < outputs.size(); i++) {
      String name = ((Attribute) outputs.get(i)).name();
      if (name.startsWith("__hw_s") && name.endsWith("_hit")) {
        addStep("meet", name.substring(6, name.length() - 4));
      }
    }
  }

  private void drop(String text, LogicalPlan droppedPlan) {
    addStep("drop", text);
    droppedPlans.add(droppedPlan);
  }

  private void addStep(String kind, String text) {
    Map description = new LinkedHashMap();
    description.put("kind", kind);
    description.put("text", text);
    steps.add(description);
  }

  public boolean isSimple() {
    return simple;
  }

  public String steps() throws Exception {
    return new ObjectMapper().writeValueAsString(steps);
  }

  /** The rows that a drop drops, counted from the leaf, with their carried columns. */
  public Object droppedRows(int place) throws Exception {
    LogicalPlan plan = (LogicalPlan) droppedPlans.get(place);
    List columns = new ArrayList();
    List outputs = Trees.list(plan.output());
    for (int i = 0; i < outputs.size(); i++) {
      if (((Attribute) outputs.get(i)).name().startsWith("__hw_s")) {
        columns.add(outputs.get(i));
      }
    }
    return trees.frame(new Project(Trees.seq(columns), plan));
  }
}
