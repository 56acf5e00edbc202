package headwater;

import java.util.List;

import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.plans.logical.Aggregate;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;

/** The leaf's column that a column further up is a renaming of. */
public final class LeafColumn {
  public final LogicalPlan leaf;
  public final Attribute column;

  private LeafColumn(LogicalPlan leaf, Attribute column) {
    this.leaf = leaf;
    this.column = column;
  }

  /** Null if the column is computed, or comes from several branches. */
  public static LeafColumn find(Attribute wanted, LogicalPlan plan) {
    List children = Trees.list(plan.children());
    if (children.isEmpty()) {
      return new LeafColumn(plan, wanted);
    }
    Attribute below = wanted;
    if (plan instanceof Project) {
      below = source(wanted, Trees.list(((Project) plan).projectList()));
    } else if (plan instanceof Aggregate) {
      below = source(wanted, Trees.list(((Aggregate) plan).aggregateExpressions()));
    }
    for (int i = 0; below != null && i < children.size(); i++) {
      if (((LogicalPlan) children.get(i)).outputSet().contains(below) && !Trees.name(plan).equals("Union")) {
        return find(below, (LogicalPlan) children.get(i));
      }
    }
    return null;
  }

  private static Attribute source(Attribute wanted, List columns) {
    for (int i = 0; i < columns.size(); i++) {
      Expression column = (Expression) columns.get(i);
      if (((NamedExpression) column).exprId().equals(wanted.exprId())) {
        Expression child = column instanceof Alias ? ((Alias) column).child() : column;
        return child instanceof Attribute ? (Attribute) child : null;
      }
    }
    return null;
  }
}
