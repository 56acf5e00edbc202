package headwater;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.EqualNullSafe;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.plans.logical.Aggregate;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.Generate;
import org.apache.spark.sql.catalyst.plans.logical.Join;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.catalyst.plans.logical.Sort;
import org.apache.spark.sql.catalyst.plans.logical.Window;

/** The kind of an operator, and its text in SQL. */
public final class OperatorText {
  private static final String[] EXCEPT_ALL = {"except all", "EXCEPT ALL"};
  private static final String[] INTERSECT_ALL = {"intersect all", "INTERSECT ALL"};

  private OperatorText() {}

  public static String sql(Expression expression) {
    String text = expression.sql();
    return text.startsWith("(") && text.endsWith(")") && closes(text) ? text.substring(1, text.length() - 1) : text;
  }

  private static boolean closes(String text) {
    int depth = 0;
    for (int i = 0; i < text.length() - 1; i++) {
      depth += text.charAt(i) == '(' ? 1 : text.charAt(i) == ')' ? -1 : 0;
      if (depth == 0) {
        return false;
      }
    }
    return true;
  }

  public static String listed(List expressions) {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < expressions.size(); i++) {
      text.append(i == 0 ? "" : ", ").append(sql((Expression) expressions.get(i)));
    }
    return text.toString();
  }

  /** ``place``: the input through which the rows arrive; ``below`` and ``above``: the neighbouring operators. */
  public static Map describe(LogicalPlan node, int place, LogicalPlan below, List above) {
    Map description = new LinkedHashMap();
    description.put("operator", Trees.name(node));
    description.put("place", Integer.valueOf(place));
    String[] kindAndText = below == null ? new String[] {"source", ""} : kindAndText(node, place, below);
    if (node instanceof Filter && isMultisetOperation(above)) {
      kindAndText = ((Filter) node).condition().references().size() > 1 ? INTERSECT_ALL : EXCEPT_ALL;
    }
    description.put("kind", kindAndText[0]);
    description.put("text", kindAndText[1]);
    return description;
  }

  private static String[] kindAndText(LogicalPlan node, int place, LogicalPlan below) {
    if (place < 0) {
      return new String[] {"subquery", "(SELECT …)"};
    }
    if (node instanceof Filter) {
      return filter((Filter) node, below);
    }
    if (node instanceof Join) {
      Join join = (Join) node;
      String kind = join(join);
      String on = join.condition().isDefined() ? "ON " + sql((Expression) join.condition().get()) : "";
      if (kind.equals("not in")) {
        JoinSides sides = new JoinSides(join, 0);
        on = listed(sides.ownOrNull) + " NOT IN (SELECT " + listed(sides.otherOrNull) + " …)";
      }
      return new String[] {kind, kind.equals("except") || kind.equals("intersect") ? kind.toUpperCase() : on};
    }
    if (node instanceof Aggregate) {
      return aggregate((Aggregate) node);
    }
    if (node instanceof Generate && !OperatorKinds.isTableFunction(node)) {
      boolean copies = Trees.name(((Generate) node).generator()).equals("ReplicateRows");
      String created = ((Expression) ((Generate) node).generator()).sql();
      return new String[] {copies ? "copies" : "explode", "LATERAL VIEW " + created};
    }
    if (node instanceof Sort) {
      return new String[] {"sort", "ORDER BY " + listed(Trees.list(((Sort) node).order()))};
    }
    if (node instanceof Window) {
      return new String[] {"window", listed(Trees.list(((Window) node).windowExpressions()))};
    }
    String name = Trees.name(node);
    List expressions = Trees.list(node.expressions());
    if (name.endsWith("Limit")) {
      return new String[] {"limit", "LIMIT " + listed(expressions)};
    }
    if (name.equals("Offset") || name.equals("Tail")) {
      return new String[] {name.toLowerCase(), name.toUpperCase() + " " + listed(expressions)};
    }
    if (name.equals("Project")) {
      return new String[] {"project", "SELECT " + listed(expressions)};
    }
    if (name.equals("Union")) {
      return new String[] {"union", "UNION ALL"};
    }
    if (name.equals("Sample")) {
      return new String[] {"sample", "the sample"};
    }
    return new String[] {"other", BlockBuilder.followsRows(node) ? name : OperatorKinds.words(node)};
  }

  /** EXCEPT ALL and INTERSECT ALL count equal rows, filter by the counts, and make as many copies. */
  private static boolean isMultisetOperation(List above) {
    for (int i = 0; i < above.size(); i++) {
      if (above.get(i) instanceof Generate) {
        return Trees.name(((Generate) above.get(i)).generator()).equals("ReplicateRows");
      }
      if (!(above.get(i) instanceof Project)) {
        return false;
      }
    }
    return false;
  }

  private static String[] filter(Filter node, LogicalPlan below) {
    String condition = sql(node.condition());
    LogicalPlan operator = below;
    while (operator instanceof Project || operator instanceof Window || operator instanceof Filter) {
      if (operator instanceof Window) {
        List created = Trees.list(((Window) operator).windowExpressions());
        for (int i = 0; i < created.size(); i++) {
          if (node.condition().references().contains(((NamedExpression) created.get(i)).toAttribute())) {
            return new String[] {"window filter", "WHERE " + condition + " with " + sql((Expression) created.get(i))};
          }
        }
      }
      operator = (LogicalPlan) Trees.list(operator.children()).get(0);
    }
    boolean having = operator instanceof Aggregate && !((Aggregate) operator).groupingExpressions().isEmpty();
    return new String[] {having ? "having" : "filter", (having ? "HAVING " : "WHERE ") + condition};
  }

  private static String join(Join join) {
    String type = join.joinType().toString();
    if (type.equals("LeftAnti") || type.equals("LeftSemi")) {
      JoinSides sides = new JoinSides(join, 0);
      boolean anti = type.equals("LeftAnti");
      boolean comparesAll = sides.keys.size() == join.left().output().size() && !sides.keys.isEmpty();
      boolean isWholeRow = comparesAll && sides.otherConditions.isEmpty();
      for (int i = 0; i < sides.keys.size(); i++) {
        isWholeRow = isWholeRow && sides.keys.get(i) instanceof EqualNullSafe;
      }
      if (isWholeRow) {
        return anti ? "except" : "intersect";
      }
      return anti ? (sides.ownOrNull.isEmpty() ? "anti join" : "not in") : "semi join";
    }
    if (type.startsWith("ExistenceJoin")) {
      return "existence join";
    }
    if (type.equals("LeftSingle")) {
      return "left outer join";
    }
    return type.replaceAll("([a-z])([A-Z])", "$1 $2").toLowerCase() + " join";
  }

  private static String[] aggregate(Aggregate node) {
    List groups = Trees.list(node.groupingExpressions());
    List columns = Trees.list(node.aggregateExpressions());
    boolean distinct = groups.size() == columns.size() && !groups.isEmpty();
    for (int i = 0; distinct && i < columns.size(); i++) {
      distinct = groups.contains(columns.get(i));
    }
    if (distinct) {
      return new String[] {"distinct", "DISTINCT " + listed(groups)};
    }
    if (DeterminismCheck.takesFirstRow(node)) {
      return new String[] {"first row", "the first row of each " + (groups.isEmpty() ? "" : listed(groups))};
    }
    return new String[] {"aggregate", groups.isEmpty() ? "over all rows" : "GROUP BY " + listed(groups)};
  }

  /** The columns with the keys of the groups below, under their names further up. */
  public static List groupKeys(LogicalPlan below, List path) {
    List keys = new ArrayList();
    LogicalPlan operator = below;
    while (operator instanceof Project || operator instanceof Filter) {
      operator = (LogicalPlan) Trees.list(operator.children()).get(0);
    }
    if (!(operator instanceof Aggregate) || !path.contains(operator)) {
      return keys;
    }
    List groups = Trees.list(((Aggregate) operator).groupingExpressions());
    List columns = Trees.list(((Aggregate) operator).aggregateExpressions());
    for (int i = 0; i < columns.size(); i++) {
      Expression column = (Expression) columns.get(i);
      Expression created = column instanceof Alias ? ((Alias) column).child() : column;
      for (int j = 0; j < groups.size(); j++) {
        Attribute attribute = ((NamedExpression) column).toAttribute();
        if (created.semanticEquals((Expression) groups.get(j)) && below.outputSet().contains(attribute)) {
          keys.add(attribute);
        }
      }
    }
    return keys;
  }
}
