package headwater;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import com.fasterxml.jackson.databind.ObjectMapper;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.And;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.AttributeSet;
import org.apache.spark.sql.catalyst.expressions.Cast;
import org.apache.spark.sql.catalyst.expressions.EqualNullSafe;
import org.apache.spark.sql.catalyst.expressions.EqualTo;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.expressions.SubqueryExpression;
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression;
import org.apache.spark.sql.catalyst.plans.logical.Aggregate;
import org.apache.spark.sql.catalyst.plans.logical.CTERelationDef;
import org.apache.spark.sql.catalyst.plans.logical.CTERelationRef;
import org.apache.spark.sql.catalyst.plans.logical.Deduplicate;
import org.apache.spark.sql.catalyst.plans.logical.Join;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Union;

/**
 * What each operator of an analyzed plan does to columns, told as JSON: which it makes of which, what it casts, whose
 * nullability it changes, and what it joins and groups by. Operators come before what is below them; columns go by
 * their expression ids.
 */
public final class Steps {
  private static final int LONGEST = 200;
  private final List told = new ArrayList();
  private final List plans = new ArrayList();
  private final Map output = new LinkedHashMap();

  public Steps(Object plan, Integer most) throws Exception {
    output.put("columns", attributes(((LogicalPlan) plan).output()));
    List todo = new ArrayList();
    todo.add(new Object[] {plan, Integer.valueOf(-1)});
    while (!todo.isEmpty() && told.size() < most.intValue()) {
      Object[] next = (Object[]) todo.remove(todo.size() - 1);
      LogicalPlan node = (LogicalPlan) next[0];
      Integer number = Integer.valueOf(told.size());
      told.add(describe(node, (Integer) next[1]));
      plans.add(node);
      List below = list(node.children());
      List aside = list(node.subqueries());
      for (int i = aside.size() - 1; i >= 0; i--) {
        todo.add(new Object[] {aside.get(i), Integer.valueOf(-1)});
      }
      for (int i = below.size() - 1; i >= 0; i--) {
        todo.add(new Object[] {below.get(i), number});
      }
    }
    output.put("whole", Boolean.valueOf(todo.isEmpty()));
  }

  public String told() throws Exception {
    output.put("steps", told);
    return new ObjectMapper().writeValueAsString(output);
  }

  /** The operator of that number. */
  public Object plan(int number) {
    return plans.get(number);
  }

  private static Map describe(LogicalPlan node, Integer parent) {
    Map said = new LinkedHashMap();
    said.put("operator", node.getClass().getSimpleName());
    said.put("parent", parent);
    List below = list(node.children());
    List expressions = list(node.expressions());
    if (below.isEmpty()) {
      said.put("leaf", attributes(node.output()));
    }
    said.put("makes", made(node, below, expressions));
    said.put("casts", casts(expressions));
    said.put("nulls", nulls(node, below));
    if (node instanceof Join) {
      join((Join) node, said);
    } else if (node instanceof Aggregate) {
      aggregate((Aggregate) node, said);
    } else if (node instanceof Deduplicate) {
      said.put("keys", ids(list(((Deduplicate) node).keys())));
    } else if (node instanceof CTERelationDef) {
      said.put("defines", Long.valueOf(((CTERelationDef) node).id()));
      said.put("columns", ids(list(node.output())));
    } else if (node instanceof CTERelationRef) {
      said.put("refers", Long.valueOf(((CTERelationRef) node).cteId()));
      said.put("columns", ids(list(node.output())));
    } else if (said.get("operator").equals("Distinct")) {
      said.put("keys", ids(list(node.output())));
    }
    return said;
  }

  /** The columns that an operator makes: its aliases, a union's, and those that come from nowhere below it. */
  private static List made(LogicalPlan node, List below, List expressions) {
    List said = new ArrayList();
    Map known = new HashMap();
    for (int i = 0; i < expressions.size(); i++) {
      if (expressions.get(i) instanceof Alias) {
        Alias alias = (Alias) expressions.get(i);
        known.put(Long.valueOf(alias.exprId().id()), alias);
        said.add(made(Long.valueOf(alias.exprId().id()), alias.name(), sql(alias.child()), references(alias)));
      }
    }
    if (node instanceof Union) {
      union(node, below, said);
      return said;
    }
    if (below.isEmpty()) {
      return said;
    }
    for (int i = 0; i < below.size(); i++) {
      List columns = list(((LogicalPlan) below.get(i)).output());
      for (int j = 0; j < columns.size(); j++) {
        known.put(Long.valueOf(((Attribute) columns.get(j)).exprId().id()), columns.get(j));
      }
    }
    List columns = list(node.output());
    for (int i = 0; i < columns.size(); i++) {
      Attribute column = (Attribute) columns.get(i);
      if (!known.containsKey(Long.valueOf(column.exprId().id()))) {
        List from = ids(list(node.references().toSeq()));
        if (from.isEmpty() && below.size() == 1) {
          from = ids(list(((LogicalPlan) below.get(0)).output()));
        }
        said.add(made(Long.valueOf(column.exprId().id()), column.name(), node.getClass().getSimpleName(), from));
      }
    }
    return said;
  }

  private static void union(LogicalPlan node, List below, List said) {
    List columns = list(node.output());
    for (int i = 0; i < columns.size(); i++) {
      List from = new ArrayList();
      for (int j = 0; j < below.size(); j++) {
        List theirs = list(((LogicalPlan) below.get(j)).output());
        if (i < theirs.size()) {
          from.add(Long.valueOf(((Attribute) theirs.get(i)).exprId().id()));
        }
      }
      Attribute column = (Attribute) columns.get(i);
      said.add(made(Long.valueOf(column.exprId().id()), column.name(), "UNION", from));
    }
  }

  private static Map made(Long id, String name, String sql, List from) {
    Map said = new LinkedHashMap();
    said.put("id", id);
    said.put("name", name);
    said.put("sql", sql);
    said.put("from", from);
    return said;
  }

  /** Casts of what depends on columns: a constant's loses nothing that was in the data. */
  private static List casts(List expressions) {
    List said = new ArrayList();
    for (int i = 0; i < expressions.size(); i++) {
      Object top = expressions.get(i);
      List all = within((Expression) top);
      for (int j = 0; j < all.size(); j++) {
        if (!(all.get(j) instanceof Cast) || ((Cast) all.get(j)).child().foldable()) {
          continue;
        }
        Cast cast = (Cast) all.get(j);
        Map each = new LinkedHashMap();
        each.put("column", top instanceof NamedExpression ? ((NamedExpression) top).name() : null);
        each.put("from", cast.child().dataType().catalogString());
        each.put("to", cast.dataType().catalogString());
        each.put("explicit", Boolean.valueOf(cast.getTagValue(Cast.USER_SPECIFIED_CAST()).isDefined()));
        each.put("sql", sql(cast));
        said.add(each);
      }
    }
    return said;
  }

  private static List nulls(LogicalPlan node, List below) {
    Map known = new HashMap();
    for (int i = 0; i < below.size(); i++) {
      List columns = list(((LogicalPlan) below.get(i)).output());
      for (int j = 0; j < columns.size(); j++) {
        Attribute column = (Attribute) columns.get(j);
        known.put(Long.valueOf(column.exprId().id()), Boolean.valueOf(column.nullable()));
      }
    }
    List said = new ArrayList();
    List columns = list(node.output());
    for (int i = 0; i < columns.size(); i++) {
      Attribute column = (Attribute) columns.get(i);
      Object before = known.get(Long.valueOf(column.exprId().id()));
      if (before != null && ((Boolean) before).booleanValue() != column.nullable()) {
        Map each = new LinkedHashMap();
        each.put("column", column.name());
        each.put("nullable", Boolean.valueOf(column.nullable()));
        said.add(each);
      }
    }
    return said;
  }

  private static void join(Join node, Map said) {
    said.put("join", node.joinType().toString());
    List left = new ArrayList();
    List right = new ArrayList();
    boolean plain = node.condition().isDefined();
    List todo = new ArrayList();
    if (plain) {
      todo.add(node.condition().get());
      said.put("condition", sql((Expression) node.condition().get()));
    }
    while (!todo.isEmpty()) {
      Expression each = (Expression) todo.remove(todo.size() - 1);
      if (each instanceof And) {
        todo.addAll(list(each.children()));
      } else if (each instanceof EqualTo || each instanceof EqualNullSafe) {
        pair((Expression) each.children().apply(0), (Expression) each.children().apply(1), node, left, right);
      }
    }
    said.put("left", left);
    said.put("right", right);
    said.put("leftColumns", ids(list(node.left().output())));
    said.put("rightColumns", ids(list(node.right().output())));
  }

  /** The columns of an equality between the two sides; where a side is no column, nothing is known by it. */
  private static void pair(Expression one, Expression other, Join node, List left, List right) {
    AttributeSet here = node.left().outputSet();
    AttributeSet there = node.right().outputSet();
    if (one instanceof Attribute && other instanceof Attribute) {
      if (here.contains((Attribute) one) && there.contains((Attribute) other)) {
        left.add(Long.valueOf(((Attribute) one).exprId().id()));
        right.add(Long.valueOf(((Attribute) other).exprId().id()));
      } else if (here.contains((Attribute) other) && there.contains((Attribute) one)) {
        left.add(Long.valueOf(((Attribute) other).exprId().id()));
        right.add(Long.valueOf(((Attribute) one).exprId().id()));
      }
    }
  }

  private static void aggregate(Aggregate node, Map said) {
    List grouping = list(node.groupingExpressions());
    List results = list(node.aggregateExpressions());
    List keys = new ArrayList();
    for (int i = 0; i < grouping.size() && keys != null; i++) {
      Object id = idOf((Expression) grouping.get(i), results);
      if (id == null) {
        keys = null; // a group that the result does not show
      } else {
        keys.add(id);
      }
    }
    said.put("keys", keys);
    List measures = new ArrayList();
    for (int i = 0; i < results.size(); i++) {
      List all = within((Expression) results.get(i));
      for (int j = 0; j < all.size(); j++) {
        if (all.get(j) instanceof AggregateExpression) {
          AggregateExpression each = (AggregateExpression) all.get(j);
          Map measure = new LinkedHashMap();
          measure.put("column", ((NamedExpression) results.get(i)).name());
          measure.put("function", each.aggregateFunction().prettyName());
          measure.put("distinct", Boolean.valueOf(each.isDistinct()));
          measure.put("sql", sql(each));
          measure.put("from", references(each));
          measures.add(measure);
        }
      }
    }
    said.put("measures", measures);
  }

  private static Object idOf(Expression group, List results) {
    for (int i = 0; i < results.size(); i++) {
      NamedExpression result = (NamedExpression) results.get(i);
      Expression value = result instanceof Alias ? ((Alias) result).child() : (Expression) result;
      if (value.semanticEquals(group)) {
        return Long.valueOf(result.exprId().id());
      }
    }
    return null;
  }

  /** The columns that an expression depends on, those of its subqueries' results among them. */
  private static List references(Expression expression) {
    List found = ids(list(expression.references().toSeq()));
    List all = within(expression);
    for (int i = 0; i < all.size(); i++) {
      if (all.get(i) instanceof SubqueryExpression) {
        Object plan = ((SubqueryExpression) all.get(i)).plan();
        if (plan instanceof LogicalPlan) {
          found.addAll(ids(list(((LogicalPlan) plan).output())));
        }
      }
    }
    return found;
  }

  /** An expression and all below it. */
  private static List within(Expression expression) {
    List found = new ArrayList();
    List todo = new ArrayList();
    todo.add(expression);
    while (!todo.isEmpty()) {
      Expression each = (Expression) todo.remove(todo.size() - 1);
      found.add(each);
      List below = list(each.children());
      for (int i = below.size() - 1; i >= 0; i--) {
        todo.add(below.get(i));
      }
    }
    return found;
  }

  private static String sql(Expression expression) {
    String text;
    try {
      text = expression.sql();
    } catch (RuntimeException unspeakable) { // not every expression has a text
      text = expression.getClass().getSimpleName();
    }
    return text.length() <= LONGEST ? text : text.substring(0, LONGEST - 1) + "…";
  }

  private static List attributes(scala.collection.Seq columns) {
    List said = new ArrayList();
    List each = list(columns);
    for (int i = 0; i < each.size(); i++) {
      Map one = new LinkedHashMap();
      one.put("id", Long.valueOf(((Attribute) each.get(i)).exprId().id()));
      one.put("name", ((Attribute) each.get(i)).name());
      said.add(one);
    }
    return said;
  }

  private static List ids(List columns) {
    List said = new ArrayList();
    for (int i = 0; i < columns.size(); i++) {
      said.add(Long.valueOf(((Attribute) columns.get(i)).exprId().id()));
    }
    return said;
  }

  private static List list(scala.collection.Seq sequence) {
    List found = new ArrayList();
    scala.collection.Iterator each = sequence.iterator();
    while (each.hasNext()) {
      found.add(each.next());
    }
    return found;
  }
}
