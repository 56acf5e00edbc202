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
 * What each operator of an analyzed plan does to columns, as JSON: which column it makes of which, what it casts, whose
 * nullability it changes, and what it joins and groups by. Operators come before their inputs; columns are named by
 * their expression ids.
 */
public final class PlanSteps {
  private static final int MAX_SQL_LENGTH = 200;
  private final List steps = new ArrayList();
  private final List plans = new ArrayList();
  private final Map output = new LinkedHashMap();

  public PlanSteps(Object plan, Integer maxSteps) throws Exception {
    output.put("columns", attributes(((LogicalPlan) plan).output()));
    List pending = new ArrayList();
    pending.add(new Object[] {plan, Integer.valueOf(-1)});
    while (!pending.isEmpty() && steps.size() < maxSteps.intValue()) {
      Object[] next = (Object[]) pending.remove(pending.size() - 1);
      LogicalPlan node = (LogicalPlan) next[0];
      Integer number = Integer.valueOf(steps.size());
      steps.add(describe(node, (Integer) next[1]));
      plans.add(node);
      List inputs = Trees.list(node.children());
      List subqueries = Trees.list(node.subqueries());
      for (int i = subqueries.size() - 1; i >= 0; i--) {
        pending.add(new Object[] {subqueries.get(i), Integer.valueOf(-1)});
      }
      for (int i = inputs.size() - 1; i >= 0; i--) {
        pending.add(new Object[] {inputs.get(i), number});
      }
    }
    output.put("whole", Boolean.valueOf(pending.isEmpty()));
  }

  public String toJson() throws Exception {
    output.put("steps", steps);
    return new ObjectMapper().writeValueAsString(output);
  }

  /** The operator with this number. */
  public Object plan(int number) {
    return plans.get(number);
  }

  private static Map describe(LogicalPlan node, Integer parent) {
    Map result = new LinkedHashMap();
    result.put("operator", node.getClass().getSimpleName());
    result.put("parent", parent);
    List inputs = Trees.list(node.children());
    List expressions = Trees.list(node.expressions());
    if (inputs.isEmpty()) {
      result.put("leaf", attributes(node.output()));
    }
    result.put("makes", madeColumns(node, inputs, expressions));
    result.put("casts", casts(expressions));
    result.put("nulls", nulls(node, inputs));
    if (node instanceof Join) {
      join((Join) node, result);
    } else if (node instanceof Aggregate) {
      aggregate((Aggregate) node, result);
    } else if (node instanceof Deduplicate) {
      result.put("keys", ids(Trees.list(((Deduplicate) node).keys())));
    } else if (node instanceof CTERelationDef) {
      result.put("defines", Long.valueOf(((CTERelationDef) node).id()));
      result.put("columns", ids(Trees.list(node.output())));
    } else if (node instanceof CTERelationRef) {
      result.put("refers", Long.valueOf(((CTERelationRef) node).cteId()));
      result.put("columns", ids(Trees.list(node.output())));
    } else if (result.get("operator").equals("Distinct")) {
      result.put("keys", ids(Trees.list(node.output())));
    }
    return result;
  }

  /** The columns that an operator makes: its aliases, a union's columns, and those that none of its inputs has. */
  private static List madeColumns(LogicalPlan node, List inputs, List expressions) {
    List result = new ArrayList();
    Map known = new HashMap();
    for (int i = 0; i < expressions.size(); i++) {
      if (expressions.get(i) instanceof Alias) {
        Alias alias = (Alias) expressions.get(i);
        known.put(Long.valueOf(alias.exprId().id()), alias);
        result.add(madeColumn(Long.valueOf(alias.exprId().id()), alias.name(), sql(alias.child()), references(alias)));
      }
    }
    if (node instanceof Union) {
      union(node, inputs, result);
      return result;
    }
    if (inputs.isEmpty()) {
      return result;
    }
    for (int i = 0; i < inputs.size(); i++) {
      List columns = Trees.list(((LogicalPlan) inputs.get(i)).output());
      for (int j = 0; j < columns.size(); j++) {
        known.put(Long.valueOf(((Attribute) columns.get(j)).exprId().id()), columns.get(j));
      }
    }
    List columns = Trees.list(node.output());
    for (int i = 0; i < columns.size(); i++) {
      Attribute column = (Attribute) columns.get(i);
      if (!known.containsKey(Long.valueOf(column.exprId().id()))) {
        List sources = ids(Trees.list(node.references().toSeq()));
        if (sources.isEmpty() && inputs.size() == 1) {
          sources = ids(Trees.list(((LogicalPlan) inputs.get(0)).output()));
        }
        result.add(madeColumn(Long.valueOf(column.exprId().id()), column.name(), node.getClass().getSimpleName(), sources));
      }
    }
    return result;
  }

  private static void union(LogicalPlan node, List inputs, List result) {
    List columns = Trees.list(node.output());
    for (int i = 0; i < columns.size(); i++) {
      List sources = new ArrayList();
      for (int j = 0; j < inputs.size(); j++) {
        List inputColumns = Trees.list(((LogicalPlan) inputs.get(j)).output());
        if (i < inputColumns.size()) {
          sources.add(Long.valueOf(((Attribute) inputColumns.get(i)).exprId().id()));
        }
      }
      Attribute column = (Attribute) columns.get(i);
      result.add(madeColumn(Long.valueOf(column.exprId().id()), column.name(), "UNION", sources));
    }
  }

  private static Map madeColumn(Long id, String name, String sql, List sources) {
    Map result = new LinkedHashMap();
    result.put("id", id);
    result.put("name", name);
    result.put("sql", sql);
    result.put("from", sources);
    return result;
  }

  /** Casts of expressions that depend on columns: the cast of a constant loses nothing that was in the data. */
  private static List casts(List expressions) {
    List result = new ArrayList();
    for (int i = 0; i < expressions.size(); i++) {
      Object top = expressions.get(i);
      List nested = withDescendants((Expression) top);
      for (int j = 0; j < nested.size(); j++) {
        if (!(nested.get(j) instanceof Cast) || ((Cast) nested.get(j)).child().foldable()) {
          continue;
        }
        Cast cast = (Cast) nested.get(j);
        Map item = new LinkedHashMap();
        item.put("column", top instanceof NamedExpression ? ((NamedExpression) top).name() : null);
        item.put("from", cast.child().dataType().catalogString());
        item.put("to", cast.dataType().catalogString());
        item.put("explicit", Boolean.valueOf(cast.getTagValue(Cast.USER_SPECIFIED_CAST()).isDefined()));
        item.put("sql", sql(cast));
        result.add(item);
      }
    }
    return result;
  }

  private static List nulls(LogicalPlan node, List inputs) {
    Map known = new HashMap();
    for (int i = 0; i < inputs.size(); i++) {
      List columns = Trees.list(((LogicalPlan) inputs.get(i)).output());
      for (int j = 0; j < columns.size(); j++) {
        Attribute column = (Attribute) columns.get(j);
        known.put(Long.valueOf(column.exprId().id()), Boolean.valueOf(column.nullable()));
      }
    }
    List result = new ArrayList();
    List columns = Trees.list(node.output());
    for (int i = 0; i < columns.size(); i++) {
      Attribute column = (Attribute) columns.get(i);
      Object before = known.get(Long.valueOf(column.exprId().id()));
      if (before != null && ((Boolean) before).booleanValue() != column.nullable()) {
        Map item = new LinkedHashMap();
        item.put("column", column.name());
        item.put("nullable", Boolean.valueOf(column.nullable()));
        result.add(item);
      }
    }
    return result;
  }

  private static void join(Join node, Map result) {
    result.put("join", node.joinType().toString());
    List left = new ArrayList();
    List right = new ArrayList();
    boolean plain = node.condition().isDefined();
    List pending = new ArrayList();
    if (plain) {
      pending.add(node.condition().get());
      result.put("condition", sql((Expression) node.condition().get()));
    }
    while (!pending.isEmpty()) {
      Expression item = (Expression) pending.remove(pending.size() - 1);
      if (item instanceof And) {
        pending.addAll(Trees.list(item.children()));
      } else if (item instanceof EqualTo || item instanceof EqualNullSafe) {
        pair((Expression) item.children().apply(0), (Expression) item.children().apply(1), node, left, right);
      }
    }
    result.put("left", left);
    result.put("right", right);
    result.put("leftColumns", ids(Trees.list(node.left().output())));
    result.put("rightColumns", ids(Trees.list(node.right().output())));
  }

  /** Adds the columns of an equality between the two sides; ignored if a side is not a column. */
  private static void pair(Expression one, Expression other, Join node, List left, List right) {
    AttributeSet leftOutput = node.left().outputSet();
    AttributeSet rightOutput = node.right().outputSet();
    if (one instanceof Attribute && other instanceof Attribute) {
      if (leftOutput.contains((Attribute) one) && rightOutput.contains((Attribute) other)) {
        left.add(Long.valueOf(((Attribute) one).exprId().id()));
        right.add(Long.valueOf(((Attribute) other).exprId().id()));
      } else if (leftOutput.contains((Attribute) other) && rightOutput.contains((Attribute) one)) {
        left.add(Long.valueOf(((Attribute) other).exprId().id()));
        right.add(Long.valueOf(((Attribute) one).exprId().id()));
      }
    }
  }

  private static void aggregate(Aggregate node, Map result) {
    List grouping = Trees.list(node.groupingExpressions());
    List results = Trees.list(node.aggregateExpressions());
    List keys = new ArrayList();
    for (int i = 0; i < grouping.size() && keys != null; i++) {
      Object id = idOf((Expression) grouping.get(i), results);
      if (id == null) {
        keys = null; // a grouping key that is not in the result
      } else {
        keys.add(id);
      }
    }
    result.put("keys", keys);
    List measures = new ArrayList();
    for (int i = 0; i < results.size(); i++) {
      List nested = withDescendants((Expression) results.get(i));
      for (int j = 0; j < nested.size(); j++) {
        if (nested.get(j) instanceof AggregateExpression) {
          AggregateExpression item = (AggregateExpression) nested.get(j);
          Map measure = new LinkedHashMap();
          measure.put("column", ((NamedExpression) results.get(i)).name());
          measure.put("function", item.aggregateFunction().prettyName());
          measure.put("distinct", Boolean.valueOf(item.isDistinct()));
          measure.put("sql", sql(item));
          measure.put("from", references(item));
          measures.add(measure);
        }
      }
    }
    result.put("measures", measures);
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

  /** The columns that an expression depends on, with the result columns of its subqueries. */
  private static List references(Expression expression) {
    List result = ids(Trees.list(expression.references().toSeq()));
    List nested = withDescendants(expression);
    for (int i = 0; i < nested.size(); i++) {
      if (nested.get(i) instanceof SubqueryExpression) {
        Object plan = ((SubqueryExpression) nested.get(i)).plan();
        if (plan instanceof LogicalPlan) {
          result.addAll(ids(Trees.list(((LogicalPlan) plan).output())));
        }
      }
    }
    return result;
  }

  /** An expression and all expressions within it. */
  private static List withDescendants(Expression expression) {
    List result = new ArrayList();
    List pending = new ArrayList();
    pending.add(expression);
    while (!pending.isEmpty()) {
      Expression item = (Expression) pending.remove(pending.size() - 1);
      result.add(item);
      List inputs = Trees.list(item.children());
      for (int i = inputs.size() - 1; i >= 0; i--) {
        pending.add(inputs.get(i));
      }
    }
    return result;
  }

  private static String sql(Expression expression) {
    String text;
    try {
      text = expression.sql();
    } catch (RuntimeException error) { // not every expression has SQL text
      text = expression.getClass().getSimpleName();
    }
    return text.length() <= MAX_SQL_LENGTH ? text : text.substring(0, MAX_SQL_LENGTH - 1) + "…";
  }

  private static List attributes(scala.collection.Seq columns) {
    List result = new ArrayList();
    List item = Trees.list(columns);
    for (int i = 0; i < item.size(); i++) {
      Map column = new LinkedHashMap();
      column.put("id", Long.valueOf(((Attribute) item.get(i)).exprId().id()));
      column.put("name", ((Attribute) item.get(i)).name());
      result.add(column);
    }
    return result;
  }

  private static List ids(List columns) {
    List result = new ArrayList();
    for (int i = 0; i < columns.size(); i++) {
      result.add(Long.valueOf(((Attribute) columns.get(i)).exprId().id()));
    }
    return result;
  }
}
