package headwater;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;

import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.EqualNullSafe;
import org.apache.spark.sql.catalyst.expressions.EqualTo;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.plans.Inner$;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.Join;
import org.apache.spark.sql.catalyst.plans.logical.JoinHint;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;

/** Joins between the blocks of a plan, downwards and upwards, as frames. */
public final class BlockJoins {
  private final Trees trees;
  private final LogicalPlan root;
  private final List blocks;
  private final List links;

  public BlockJoins(Trees trees, LogicalPlan root, List blocks, List links) {
    this.trees = trees;
    this.root = root;
    this.blocks = blocks;
    this.links = links;
  }

  public Object frame(int number) throws Exception {
    return trees.frame(((Block) blocks.get(number)).plan);
  }

  /**
   * The rows of the block below to which the wanted rows lead, beside them. A small number of wanted rows becomes a
   * condition, by which sources skip; otherwise they are joined.
   */
  public Object follow(int number, Object wanted, int maxPushedRows) throws Exception {
    Link link = (Link) links.get(number);
    Block block = (Block) blocks.get(link.to);
    SmallRowSet rows = new SmallRowSet(trees, wanted, maxPushedRows);
    LogicalPlan here = Trees.plan(rows.frame());
    List keys = new ArrayList();
    for (int i = 0; i < block.keys.size(); i++) {
      keys.add(Conditions.columnOf(block.plan, (String) block.keys.get(i)));
    }
    List conditions = new ArrayList();
    for (int i = 0; i < link.conditions.size(); i++) {
      Expression condition = (Expression) link.conditions.get(i);
      conditions.add(Substitute.in(condition, link.conditionInputs, conditionValues(link, here)));
    }
    return join(rows, link.columns, block.plan, keys, link.nullSafe, conditions);
  }

  /** The distinct rows as a local frame; null if there are more than maxRows. */
  public Object collectDistinct(Object frame, int maxRows) throws Exception {
    SmallRowSet rows = new SmallRowSet(trees, frame, maxRows);
    return rows.isSmall() ? rows.frame() : null;
  }

  /** The distinct rows of a frame with any columns. */
  public Object distinct(Object frame) throws Exception {
    return DistinctRows.of(trees, frame);
  }

  /**
   * The result's rows that have the wanted values, each beside them; columns of the result by their position.
   * ``stored``: by column SQL of what its format makes of a value (RowHash.addTo), or null. ``keys``: the columns are
   * keys of the result, compared as SQL does; otherwise every difference between values counts.
   */
  public Object joinResult(Object wanted, List columns, List places, List stored, boolean keys, int maxPushedRows)
      throws Exception {
    List outputs = Trees.list(root.output());
    List attributes = new ArrayList();
    for (int i = 0; i < places.size(); i++) {
      attributes.add(outputs.get(((Number) places.get(i)).intValue()));
    }
    LogicalPlan top = ((Block) blocks.get(0)).plan;
    if (keys && stored.equals(Collections.nCopies(stored.size(), null))) {
      SmallRowSet rows = new SmallRowSet(trees, wanted, maxPushedRows);
      return join(rows, columns, top, attributes, Collections.nCopies(columns.size(), Boolean.TRUE), new ArrayList());
    }
    return joinByHash(wanted, columns, top, attributes, stored, maxPushedRows);
  }

  private Object joinByHash(
      Object wanted, List columns, LogicalPlan top, List attributes, List stored, int maxPushedRows) throws Exception {
    List wantedHashes = Arrays.asList(new Object[] {"__hw_w0", "__hw_w1"});
    List topHashes = Arrays.asList(new Object[] {"__hw_t0", "__hw_t1"});
    RowHash hash = new RowHash(Boolean.TRUE);
    LogicalPlan plan = Trees.plan(wanted);
    List compared = new ArrayList();
    for (int i = 0; i < columns.size(); i++) {
      compared.add(Conditions.columnOf(plan, (String) columns.get(i)));
    }
    Object hashed = trees.frame(hash.addTo(trees, plan, compared, wantedHashes));
    SmallRowSet rows = new SmallRowSet(trees, hashed, maxPushedRows);
    LogicalPlan here = Trees.plan(rows.frame());
    LogicalPlan there = top;
    for (int i = 0; i < columns.size(); i++) {
      Attribute key = (Attribute) attributes.get(i);
      if (stored.get(i) == null) {
        there = rows.restrict(there, key, Conditions.columnOf(here, (String) columns.get(i)));
      }
    }
    there = hash.addTo(trees, there, attributes, stored, topHashes);
    Expression condition = Trees.trueLiteral();
    for (int i = 0; i < topHashes.size(); i++) {
      Attribute one = Conditions.columnOf(here, (String) wantedHashes.get(i));
      Attribute other = Conditions.columnOf(there, (String) topHashes.get(i));
      condition = Conditions.and(condition, new EqualTo(one, other));
    }
    return trees.frame(new Join(here, there, Inner$.MODULE$, scala.Option.apply(condition), JoinHint.NONE()));
  }

  private Object join(SmallRowSet rows, List columns, LogicalPlan below, List keys, List safe, List conditions)
      throws Exception {
    LogicalPlan here = Trees.plan(rows.frame());
    LogicalPlan there = below;
    Expression condition = Trees.trueLiteral();
    for (int i = 0; i < columns.size(); i++) {
      Attribute one = Conditions.columnOf(here, (String) columns.get(i));
      Attribute other = (Attribute) keys.get(i);
      boolean nulls = ((Boolean) safe.get(i)).booleanValue();
      condition =
          Conditions.and(condition, nulls ? (Expression) new EqualNullSafe(one, other) : new EqualTo(one, other));
      there = rows.restrict(there, other, one);
    }
    for (int i = 0; i < conditions.size(); i++) {
      condition = Conditions.and(condition, (Expression) conditions.get(i));
    }
    return trees.frame(new Join(here, there, Inner$.MODULE$, scala.Option.apply(condition), JoinHint.NONE()));
  }

  /**
   * The distinct values by which rows above lead to these rows of the block below. The frame has the block's columns in
   * their order, and then those named in ``along``, which are kept.
   */
  public Object arrivalKeys(int number, Object frame, List along) throws Exception {
    Link link = (Link) links.get(number);
    Block block = (Block) blocks.get(link.to);
    LogicalPlan rows = Trees.plan(frame);
    List columns = new ArrayList();
    for (int i = 0; i < link.columns.size(); i++) {
      columns.add(Conditions.columnOf(rows, (String) block.keys.get(i)));
    }
    List there = conditionAttributes(link, block);
    List outputs = Trees.list(rows.output());
    for (int i = 0; i < there.size(); i++) {
      int place = Trees.list(block.plan.output()).indexOf(there.get(i));
      columns.add(Trees.alias((Expression) outputs.get(place), arrivalColumn(link, i)));
    }
    for (int i = 0; i < along.size(); i++) {
      columns.add(Conditions.columnOf(rows, (String) along.get(i)));
    }
    // Without columns, DISTINCT would return one row for no rows.
    columns.add(Trees.alias(Trees.trueLiteral(), "__hw_a" + link.number));
    return DistinctRows.of(trees, trees.frame(new Project(Trees.seq(columns), rows)));
  }

  /** The rows of the block above that lead to the arrivals below, with the columns ``along``. */
  public Object rowsLeadingTo(int number, int from, Object arrivals, List along, int maxPushedRows) throws Exception {
    Link link = (Link) links.get(number);
    Block block = (Block) blocks.get(link.to);
    LogicalPlan above = ((Block) blocks.get(from)).plan;
    SmallRowSet rows = new SmallRowSet(trees, arrivals, maxPushedRows);
    LogicalPlan there = Trees.plan(rows.frame());
    LogicalPlan here = new Filter(Conditions.columnOf(above, link.present), above);
    Expression condition = Trees.trueLiteral();
    for (int i = 0; i < link.columns.size(); i++) {
      Attribute one = Conditions.columnOf(above, (String) link.columns.get(i));
      Attribute other = Conditions.columnOf(there, (String) block.keys.get(i));
      boolean safe = ((Boolean) link.nullSafe.get(i)).booleanValue();
      condition =
          Conditions.and(condition, safe ? (Expression) new EqualNullSafe(one, other) : new EqualTo(one, other));
      here = rows.restrict(here, one, other);
    }
    List before = new ArrayList(link.conditionInputs);
    before.addAll(conditionAttributes(link, block));
    List after = conditionValues(link, above);
    for (int i = link.conditionInputs.size(); i < before.size(); i++) {
      after.add(Conditions.columnOf(there, arrivalColumn(link, i - link.conditionInputs.size())));
    }
    for (int i = 0; i < link.conditions.size(); i++) {
      condition = Conditions.and(condition, Substitute.in((Expression) link.conditions.get(i), before, after));
    }
    List columns = Trees.list(above.output());
    for (int i = 0; i < along.size(); i++) {
      columns.add(Conditions.columnOf(there, (String) along.get(i)));
    }
    LogicalPlan joined = new Join(here, there, Inner$.MODULE$, scala.Option.apply(condition), JoinHint.NONE());
    return trees.frame(new Project(Trees.seq(columns), joined));
  }

  private static String arrivalColumn(Link link, int place) {
    return "__hw_a" + link.number + "_" + place;
  }

  /** The columns of the block below that the link's further conditions refer to. */
  private static List conditionAttributes(Link link, Block block) {
    List attributes = new ArrayList();
    List outputs = Trees.list(block.plan.output());
    for (int i = 0; i < outputs.size(); i++) {
      if (Conditions.refersTo(link.conditions, (Attribute) outputs.get(i))) {
        attributes.add(outputs.get(i));
      }
    }
    return attributes;
  }

  private static List conditionValues(Link link, LogicalPlan plan) {
    List attributes = new ArrayList();
    for (int i = 0; i < link.conditionColumns.size(); i++) {
      attributes.add(Conditions.columnOf(plan, (String) link.conditionColumns.get(i)));
    }
    return attributes;
  }
}
