package headwater;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.plans.logical.CTERelationRef;
import org.apache.spark.sql.catalyst.plans.logical.LeafNode;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.OneRowRelation;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.catalyst.plans.logical.Range;
import org.apache.spark.sql.catalyst.plans.logical.View;

/**
 * The leaves of a plan, in a fixed order: below an operator from left to right, then those of its subqueries. A
 * reference to a common table expression, or to the step before of a recursive one, is not a leaf.
 */
public final class PlanLeaves {
  private PlanLeaves() {}

  public static List leaves(LogicalPlan plan) {
    LeafRule rule = new LeafRule(null, true);
    plan.transformUpWithSubqueries(rule);
    return rule.leaves;
  }

  /** The plan with empty relations of the same columns instead of its leaves, except self-contained ones. */
  public static LogicalPlan withEmptyLeaves(LogicalPlan plan, List selfContained) {
    List replacements = new ArrayList();
    List leaves = leaves(plan);
    for (int i = 0; i < leaves.size(); i++) {
      LogicalPlan leaf = (LogicalPlan) leaves.get(i);
      replacements.add(Boolean.TRUE.equals(selfContained.get(i)) ? leaf : emptyRelation(leaf));
    }
    return withLeaves(plan, replacements);
  }

  private static LogicalPlan emptyRelation(LogicalPlan leaf) {
    return org.apache.spark.sql.catalyst.plans.logical.LocalRelation$.MODULE$.apply(leaf.output());
  }

  /** The plan with these instead of its leaves. */
  public static LogicalPlan withLeaves(LogicalPlan plan, List replacements) {
    LeafRule rule = new LeafRule(replacements, false);
    LogicalPlan filledPlan = (LogicalPlan) plan.transformUpWithSubqueries(rule);
    if (rule.leaves.size() != replacements.size()) {
      throw new IllegalStateException("the plan has " + rule.leaves.size() + " leaves, not " + replacements.size());
    }
    return filledPlan;
  }

  /** The plan with views replaced by the plans below them. */
  public static LogicalPlan withoutViews(LogicalPlan plan) {
    return (LogicalPlan) plan.transformUpWithSubqueries(new LeafRule(null, false));
  }

  /** A rule that visits every operator, including those of subqueries. */
  private static final class LeafRule extends scala.runtime.AbstractPartialFunction {
    private final List replacements;
    private final boolean readOnly;
    private final List leaves = new ArrayList();

    public LeafRule(List replacements, boolean readOnly) {
      this.replacements = replacements;
      this.readOnly = readOnly;
    }

    public boolean isDefinedAt(Object node) {
      return true;
    }

    public Object applyOrElse(Object node, scala.Function1 otherwise) {
      if (node instanceof View && !readOnly) {
        return ((View) node).child();
      }
      boolean isReference = node instanceof CTERelationRef || node.getClass().getSimpleName().equals("UnionLoopRef");
      if (!(node instanceof LeafNode) || isReference) {
        return node;
      }
      leaves.add(node);
      return replacements == null || leaves.size() > replacements.size() ? node : replacements.get(leaves.size() - 1);
    }
  }

  /** Whether a leaf needs no data. */
  public static boolean isSelfContained(Object leaf) {
    return leaf instanceof Range || leaf instanceof OneRowRelation;
  }

  /** A new scan of a leaf, under the names and ids that the rest of the plan refers to. */
  public static LogicalPlan withNames(LogicalPlan read, LogicalPlan leaf) {
    LogicalPlan source = withMetadata(read, leaf);
    Map columnsByName = new HashMap();
    List sourceColumns = Trees.list(source.output());
    for (int i = 0; i < sourceColumns.size(); i++) {
      Attribute column = (Attribute) sourceColumns.get(i);
      columnsByName.put(column.name(), column);
    }
    scala.collection.immutable.List nothing = Trees.seq(new ArrayList());
    List columnsInOrder = new ArrayList();
    List leafColumns = Trees.list(leaf.output());
    for (int i = 0; i < leafColumns.size(); i++) {
      Attribute column = (Attribute) leafColumns.get(i);
      Attribute sourceColumn = (Attribute) columnsByName.get(column.name());
      if (sourceColumn == null) {
        throw new IllegalStateException("the column " + column.name() + " is not there");
      }
      if (!sourceColumn.dataType().asNullable().equals(column.dataType().asNullable())) {
        throw new IllegalStateException("the column " + column.name() + " is " + sourceColumn.dataType().sql()
            + ", not " + column.dataType().sql());
      }
      columnsInOrder.add(new Alias(sourceColumn, column.name(), column.exprId(), column.qualifier(),
          new scala.Some(column.metadata()), nothing));
    }
    return new Project(Trees.seq(columnsInOrder), source);
  }

  /** The scan with hidden columns (`_metadata`) exposed, if the leaf exposed one. */
  private static LogicalPlan withMetadata(LogicalPlan read, LogicalPlan leaf) {
    List columns = Trees.list(leaf.output());
    for (int i = 0; i < columns.size(); i++) {
      if (((Attribute) columns.get(i)).metadata().contains("__metadata_col")) {
        LeafRule rule = new LeafRule(null, true);
        read.transformUpWithSubqueries(rule);
        List exposed = new ArrayList();
        for (int j = 0; j < rule.leaves.size(); j++) {
          LogicalPlan below = (LogicalPlan) rule.leaves.get(j);
          exposed.add(below instanceof org.apache.spark.sql.catalyst.plans.logical.ExposesMetadataColumns
              ? ((org.apache.spark.sql.catalyst.plans.logical.ExposesMetadataColumns) below).withMetadataColumns()
              : below);
        }
        return withLeaves(read, exposed);
      }
    }
    return read;
  }
}
