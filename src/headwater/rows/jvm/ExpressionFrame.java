package headwater;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

import com.fasterxml.jackson.databind.ObjectMapper;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.PlanExpression;
import org.apache.spark.sql.catalyst.expressions.TryEval;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;

/** Expressions over the rows of a plan, as columns `__hw_0`, `__hw_1`, with a description of each. */
public final class ExpressionFrame {
  private final Trees trees;
  private final LogicalPlan plan;
  private final Set unknown;
  private final List columns = new ArrayList();
  private final List descriptions = new ArrayList();

  public ExpressionFrame(Trees trees, LogicalPlan plan, Set unknown) {
    this.trees = trees;
    this.plan = plan;
    this.unknown = unknown;
  }

  public Map add(String role, Expression expression, String text) {
    Map description = describe(expression);
    description.put("role", role);
    description.put("text", text);
    description.put("column", "__hw_" + columns.size());
    columns.add(Trees.alias(expression, "__hw_" + columns.size()));
    return description;
  }

  /** Describes an expression without a value column. */
  public Map describe(Expression expression) {
    Map description = new LinkedHashMap();
    description.put("role", "rest");
    description.put("text", OperatorText.sql(expression));
    boolean isUnknown = false;
    List references = Trees.list(expression.references());
    for (int i = 0; i < references.size(); i++) {
      isUnknown = isUnknown || unknown.contains(((Attribute) references.get(i)).exprId());
    }
    description.put("unknown", Boolean.valueOf(isUnknown));
    descriptions.add(description);
    return description;
  }

  public void values(String role, List expressions) {
    for (int i = 0; i < expressions.size(); i++) {
      Expression expression = (Expression) expressions.get(i);
      String text = expression instanceof Attribute ? ((Attribute) expression).name() : OperatorText.sql(expression);
      add(role, expression, text);
    }
  }

  /**
   * Each condition, followed by the values in it: columns and subqueries. A condition that fails on rows which an
   * earlier condition excludes, as a division by zero, is null.
   */
  public void conditions(List conjuncts) {
    for (int i = 0; i < conjuncts.size(); i++) {
      Expression condition = (Expression) conjuncts.get(i);
      add("condition", new TryEval(condition), OperatorText.sql(condition));
      List one = new ArrayList();
      one.add(condition);
      values("value", JoinSides.references(one));
      subqueries(condition);
    }
  }

  private void subqueries(Expression expression) {
    if (expression instanceof PlanExpression) {
      add("value", expression, "the subquery");
      return;
    }
    List children = Trees.list(expression.children());
    for (int i = 0; i < children.size(); i++) {
      subqueries((Expression) children.get(i));
    }
  }

  public String describe() throws Exception {
    return new ObjectMapper().writeValueAsString(descriptions);
  }

  public Object frame() throws Exception {
    return trees.frame(new Project(Trees.seq(columns), plan));
  }
}
