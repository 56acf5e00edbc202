package headwater;

import java.util.ArrayList;
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

/** The ways between the blocks of a plan, down and up, as frames. */
public final class Ways {
  private final Trees trees;
  private final LogicalPlan root;
  private final List blocks;
  private final List links;

  public Ways(Trees trees, LogicalPlan root, List blocks, List links) {
    this.trees = trees;
    this.root = root;
    this.blocks = blocks;
    this.links = links;
  }

  public Object frame(int number) throws Exception {
    return trees.frame(((Block) blocks.get(number)).plan);
  }

  /**
   * The rows of the block below to which the wanted rows lead, beside them. Few wanted rows travel as conditions that
   * the source can skip by; many as a table that is joined.
   */
  public Object follow(int number, Object wanted, int few) throws Exception {
    Link link = (Link) links.get(number);
    Block block = (Block) blocks.get(link.to);
    Few rows = new Few(trees, wanted, few);
    LogicalPlan here = Trees.plan(rows.frame());
    List keys = new ArrayList();
    for (int i = 0; i < block.keys.size(); i++) {
      keys.add(Conditions.named(block.plan, (String) block.keys.get(i)));
    }
    List conditions = new ArrayList();
    for (int i = 0; i < link.conditions.size(); i++) {
      conditions.add(Substitute.in((Expression) link.conditions.get(i), link.seen, seen(link, here)));
    }
    return met(rows, link.columns, block.plan, keys, link.safe, conditions);
  }

  /** The frame's rows, each once, as a frame that has them at hand; null if they are more than that. */
  public Object bring(Object frame, int most) throws Exception {
    Few rows = new Few(trees, frame, most);
    return rows.few() ? rows.frame() : null;
  }

  /** Those of the result's rows that have the wanted values, each beside them; a column of the result by its place. */
  public Object meet(Object wanted, List columns, List places, int few) throws Exception {
    Few rows = new Few(trees, wanted, few);
    List outputs = Trees.list(root.output());
    List keys = new ArrayList();
    List safe = new ArrayList();
    for (int i = 0; i < places.size(); i++) {
      keys.add(outputs.get(((Number) places.get(i)).intValue()));
      safe.add(Boolean.TRUE);
    }
    return met(rows, columns, ((Block) blocks.get(0)).plan, keys, safe, new ArrayList());
  }

  private Object met(Few rows, List columns, LogicalPlan below, List keys, List safe, List conditions)
      throws Exception {
    LogicalPlan here = Trees.plan(rows.frame());
    LogicalPlan there = below;
    Expression condition = Trees.truth();
    for (int i = 0; i < columns.size(); i++) {
      Attribute one = Conditions.named(here, (String) columns.get(i));
      Attribute other = (Attribute) keys.get(i);
      boolean nulls = ((Boolean) safe.get(i)).booleanValue();
      condition = Conditions.and(condition, nulls ? (Expression) new EqualNullSafe(one, other) : new EqualTo(one, other));
      there = rows.narrowed(there, other, one);
    }
    for (int i = 0; i < conditions.size(); i++) {
      condition = Conditions.and(condition, (Expression) conditions.get(i));
    }
    return trees.frame(new Join(here, there, Inner$.MODULE$, scala.Option.apply(condition), JoinHint.NONE()));
  }

  /**
   * What of rows of the block below tells which rows above lead there, each once. The frame has the block's columns in
   * their order, and then those named in ``along``, which are kept.
   */
  public Object arrivals(int number, Object frame, List along) throws Exception {
    Link link = (Link) links.get(number);
    Block block = (Block) blocks.get(link.to);
    LogicalPlan rows = Trees.plan(frame);
    List columns = new ArrayList();
    for (int i = 0; i < link.columns.size(); i++) {
      columns.add(Conditions.named(rows, (String) block.keys.get(i)));
    }
    List there = asked(link, block);
    List outputs = Trees.list(rows.output());
    for (int i = 0; i < there.size(); i++) {
      int place = Trees.list(block.plan.output()).indexOf(there.get(i));
      columns.add(Trees.alias((Expression) outputs.get(place), arrival(link, i)));
    }
    for (int i = 0; i < along.size(); i++) {
      columns.add(Conditions.named(rows, (String) along.get(i)));
    }
    columns.add(Trees.alias(Trees.truth(), "__hw_a" + link.number)); // no columns at all would be one row, even of none
    return Trees.call(trees.frame(new Project(Trees.seq(columns), rows)), "distinct");
  }

  /** The rows of the block above that lead to those that have arrived below, with what came along. */
  public Object lead(int number, int from, Object arrivals, List along, int few) throws Exception {
    Link link = (Link) links.get(number);
    Block block = (Block) blocks.get(link.to);
    LogicalPlan above = ((Block) blocks.get(from)).plan;
    Few rows = new Few(trees, arrivals, few);
    LogicalPlan there = Trees.plan(rows.frame());
    LogicalPlan here = new Filter(Conditions.named(above, link.here), above);
    Expression condition = Trees.truth();
    for (int i = 0; i < link.columns.size(); i++) {
      Attribute one = Conditions.named(above, (String) link.columns.get(i));
      Attribute other = Conditions.named(there, (String) block.keys.get(i));
      boolean safe = ((Boolean) link.safe.get(i)).booleanValue();
      condition = Conditions.and(condition, safe ? (Expression) new EqualNullSafe(one, other) : new EqualTo(one, other));
      here = rows.narrowed(here, one, other);
    }
    List before = new ArrayList(link.seen);
    before.addAll(asked(link, block));
    List after = seen(link, above);
    for (int i = link.seen.size(); i < before.size(); i++) {
      after.add(Conditions.named(there, arrival(link, i - link.seen.size())));
    }
    for (int i = 0; i < link.conditions.size(); i++) {
      condition = Conditions.and(condition, Substitute.in((Expression) link.conditions.get(i), before, after));
    }
    List columns = Trees.list(above.output());
    for (int i = 0; i < along.size(); i++) {
      columns.add(Conditions.named(there, (String) along.get(i)));
    }
    LogicalPlan joined = new Join(here, there, Inner$.MODULE$, scala.Option.apply(condition), JoinHint.NONE());
    return trees.frame(new Project(Trees.seq(columns), joined));
  }

  private static String arrival(Link link, int place) {
    return "__hw_a" + link.number + "_" + place;
  }

  /** The columns of the block below that the link's further conditions are about. */
  private static List asked(Link link, Block block) {
    List found = new ArrayList();
    List outputs = Trees.list(block.plan.output());
    for (int i = 0; i < outputs.size(); i++) {
      if (Conditions.refersTo(link.conditions, (Attribute) outputs.get(i))) {
        found.add(outputs.get(i));
      }
    }
    return found;
  }

  private static List seen(Link link, LogicalPlan here) {
    List found = new ArrayList();
    for (int i = 0; i < link.seenAs.size(); i++) {
      found.add(Conditions.named(here, (String) link.seenAs.get(i)));
    }
    return found;
  }
}
