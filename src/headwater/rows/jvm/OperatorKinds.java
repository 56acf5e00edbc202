package headwater;

import java.util.Arrays;
import java.util.List;

import org.apache.spark.sql.catalyst.plans.logical.Generate;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;

/** Kinds of operators that are told by more than their name, and their names in a user's words. */
public final class OperatorKinds {
  private static final String[][] WORDS = {
    {"MapInPandas", "mapInPandas"},
    {"MapInArrow", "mapInArrow"},
    {"PythonMapInArrow", "mapInArrow"},
    {"FlatMapGroupsInPandas", "applyInPandas"},
    {"FlatMapGroupsInArrow", "applyInArrow"},
    {"FlatMapCoGroupsInPandas", "cogroup().applyInPandas"},
    {"FlatMapCoGroupsInArrow", "cogroup().applyInArrow"},
    {"UnionLoop", "a recursive query"},
    {"ScriptTransformation", "a script (TRANSFORM … USING)"},
    {"MapPartitions", "a typed function of Scala or Java"},
    {"MapElements", "a typed function of Scala or Java"},
    {"MapGroups", "a typed function of Scala or Java"},
    {"CoGroup", "a typed function of Scala or Java"},
    {"TypedFilter", "a typed filter of Scala or Java"},
    {"MapPartitionsInR", "a function of R"},
    {"FlatMapGroupsInR", "a function of R"},
    {"AsOfJoin", "a join of the nearest rows (merge_asof)"},
    {"AttachDistributedSequence", "the default index of pandas on Spark"},
    {"Sample", "a sample"},
    {"Join", "a join"},
    {"Filter", "a filter"},
    {"Window", "a window"},
    {"Aggregate", "a group"},
    {"Sort", "an order"},
    {"Generate", "a generator"},
    {"Offset", "OFFSET"},
  };
  private static final List NARROW =
      Arrays.asList(
          new Object[] {
            "Project", "Filter", "Sort", "SubqueryAlias", "ResolvedHint", "Sample", "Generate", "Union", "View"
          });

  private OperatorKinds() {}

  public static String words(LogicalPlan node) {
    if (isTableFunction(node)) {
      return "the table function " + functionName(((Generate) node).generator());
    }
    for (int i = 0; i < WORDS.length; i++) {
      if (WORDS[i][0].equals(Trees.name(node))) {
        return WORDS[i][1];
      }
    }
    return "Spark's operator " + Trees.name(node);
  }

  private static String functionName(Object generator) {
    try {
      return String.valueOf(Trees.call(generator, "name"));
    } catch (Exception unnamed) {
      return Trees.name(generator);
    }
  }

  /** A table function of a program, which may return a row for any of those that it has got. */
  public static boolean isTableFunction(LogicalPlan node) {
    return node instanceof Generate && Trees.name(((Generate) node).generator()).endsWith("UDTF");
  }

  public static boolean isLoop(LogicalPlan node) {
    return Trees.name(node).equals("UnionLoop");
  }

  /** The rows of the previous step within a recursive query. */
  public static boolean isLoopReference(LogicalPlan node) {
    return Trees.name(node).equals("UnionLoopRef");
  }

  /** Whether the plan is a step of a recursive query, which cannot run without the steps before it. */
  public static boolean isWithinLoop(LogicalPlan node) {
    if (isLoopReference(node)) {
      return true;
    }
    List children = Trees.list(node.children());
    for (int i = 0; i < children.size(); i++) {
      if (!isLoop((LogicalPlan) children.get(i)) && isWithinLoop((LogicalPlan) children.get(i))) {
        return true;
      }
    }
    return false;
  }

  /** Whether every execution has the same rows in the same partitions and order: they are read, and stay in place. */
  public static boolean keepsPlaces(LogicalPlan node) {
    List children = Trees.list(node.children());
    if (Trees.name(node).equals("Sort") && "true".equals(String.valueOf(Trees.fields(node)[1]))) {
      return false; // a global order moves rows between partitions
    }
    if (!children.isEmpty() && !NARROW.contains(Trees.name(node))) {
      return false;
    }
    for (int i = 0; i < children.size(); i++) {
      if (!keepsPlaces((LogicalPlan) children.get(i))) {
        return false;
      }
    }
    return true;
  }
}
