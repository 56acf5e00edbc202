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
 * The leaves of a plan, in one order: below an operator from left to right, then the plans of its own subqueries. What
 * only points at another part of the plan (a reference to a common table expression) is no leaf here.
 */
public final class Holes {
  private Holes() {}

  public static List leaves(LogicalPlan plan) {
    Step step = new Step(null, true);
    plan.transformUpWithSubqueries(step);
    return step.leaves;
  }

  /** The plan with an empty relation of the same columns in place of each leaf but those that are `inside`. */
  public static LogicalPlan empty(LogicalPlan plan, List inside) {
    List put = new ArrayList();
    List leaves = leaves(plan);
    for (int i = 0; i < leaves.size(); i++) {
      LogicalPlan leaf = (LogicalPlan) leaves.get(i);
      put.add(Boolean.TRUE.equals(inside.get(i)) ? leaf : emptyOf(leaf));
    }
    return filled(plan, put);
  }

  private static LogicalPlan emptyOf(LogicalPlan leaf) {
    return org.apache.spark.sql.catalyst.plans.logical.LocalRelation$.MODULE$.apply(leaf.output());
  }

  /** The plan with these in place of its leaves. */
  public static LogicalPlan filled(LogicalPlan plan, List put) {
    Step step = new Step(put, false);
    LogicalPlan filled = (LogicalPlan) plan.transformUpWithSubqueries(step);
    if (step.leaves.size() != put.size()) {
      throw new IllegalStateException("the plan has " + step.leaves.size() + " leaves, not " + put.size());
    }
    return filled;
  }

  /** A view is the plan below it; its description is the catalog's business. */
  public static LogicalPlan withoutViews(LogicalPlan plan) {
    return (LogicalPlan) plan.transformUpWithSubqueries(new Step(null, false));
  }

  /** A rule that sees every operator, the subqueries' too. */
  private static final class Step extends scala.runtime.AbstractPartialFunction {
    private final List put;
    private final boolean onlyLooking;
    private final List leaves = new ArrayList();

    public Step(List put, boolean onlyLooking) {
      this.put = put;
      this.onlyLooking = onlyLooking;
    }

    public boolean isDefinedAt(Object node) {
      return true;
    }

    public Object applyOrElse(Object node, scala.Function1 otherwise) {
      if (node instanceof View && !onlyLooking) {
        return ((View) node).child();
      }
      if (!(node instanceof LeafNode) || node instanceof CTERelationRef) {
        return node;
      }
      leaves.add(node);
      return put == null || leaves.size() > put.size() ? node : put.get(leaves.size() - 1);
    }
  }

  /** Whether a leaf says all by itself. */
  public static boolean isMadeUp(Object leaf) {
    return leaf instanceof Range || leaf instanceof OneRowRelation;
  }

  /** Where a leaf was read from again, under the names and ids that the rest of the plan knows its columns by. */
  public static LogicalPlan named(LogicalPlan read, LogicalPlan leaf) {
    LogicalPlan source = withMetadata(read, leaf);
    Map known = new HashMap();
    scala.collection.Iterator columns = source.output().iterator();
    while (columns.hasNext()) {
      Attribute column = (Attribute) columns.next();
      known.put(column.name(), column);
    }
    scala.collection.immutable.List nothing = (scala.collection.immutable.List) scala.collection.immutable.Nil$.MODULE$;
    List wanted = new ArrayList();
    scala.collection.Iterator each = leaf.output().iterator();
    while (each.hasNext()) {
      Attribute column = (Attribute) each.next();
      Attribute found = (Attribute) known.get(column.name());
      if (found == null) {
        throw new IllegalStateException("the column " + column.name() + " is not there");
      }
      if (!found.dataType().asNullable().equals(column.dataType().asNullable())) {
        throw new IllegalStateException("the column " + column.name() + " is " + found.dataType().sql() + ", not "
            + column.dataType().sql());
      }
      wanted.add(new Alias(found, column.name(), column.exprId(), column.qualifier(), new scala.Some(column.metadata()),
          nothing));
    }
    scala.collection.immutable.List list = nothing;
    for (int i = wanted.size() - 1; i >= 0; i--) {
      list = list.$colon$colon(wanted.get(i));
    }
    return new Project(list, source);
  }

  /** With the hidden columns (`_metadata`) shown, if the leaf showed one. */
  private static LogicalPlan withMetadata(LogicalPlan read, LogicalPlan leaf) {
    scala.collection.Iterator each = leaf.output().iterator();
    while (each.hasNext()) {
      if (((Attribute) each.next()).metadata().contains("__metadata_col")) {
        Step step = new Step(null, true);
        read.transformUpWithSubqueries(step);
        List shown = new ArrayList();
        for (int i = 0; i < step.leaves.size(); i++) {
          LogicalPlan below = (LogicalPlan) step.leaves.get(i);
          shown.add(below instanceof org.apache.spark.sql.catalyst.plans.logical.ExposesMetadataColumns
              ? ((org.apache.spark.sql.catalyst.plans.logical.ExposesMetadataColumns) below).withMetadataColumns()
              : below);
        }
        return filled(read, shown);
      }
    }
    return read;
  }
}
