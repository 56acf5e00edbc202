package headwater;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.IdentityHashMap;
import java.util.List;

import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.PythonUDF;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructType;

/**
 * Python functions that take a group and return rows. The rows do not say which group they belong to; a wrapper around
 * each function (grouped_calls.py) adds the group's key.
 */
public final class GroupedFunctions {
  private static final List GROUP_NODES =
      Arrays.asList(new Object[] {"FlatMapGroupsInPandas", "FlatMapGroupsInArrow"});
  private static final List COGROUP_NODES =
      Arrays.asList(new Object[] {"FlatMapCoGroupsInPandas", "FlatMapCoGroupsInArrow"});
  private final List nodes = new ArrayList();
  private final IdentityHashMap replacements = new IdentityHashMap(); // the function -> its wrapper

  public GroupedFunctions(Object analyzed) {
    find((LogicalPlan) analyzed);
  }

  private void find(LogicalPlan node) {
    if (isGroupedCall(node)) {
      nodes.add(node);
    }
    List children = Trees.list(node.children());
    for (int i = 0; i < children.size(); i++) {
      find((LogicalPlan) children.get(i));
    }
  }

  private static boolean isGroupedCall(LogicalPlan node) {
    return GROUP_NODES.contains(Trees.name(node)) || COGROUP_NODES.contains(Trees.name(node));
  }

  public int count() {
    return nodes.size();
  }

  public byte[] command(int place) throws Exception {
    Object command = Trees.call(function(node(place)).func(), "command");
    return command instanceof byte[] ? (byte[]) command : bytes((scala.collection.Iterable) command);
  }

  private static byte[] bytes(scala.collection.Iterable command) {
    List elements = Trees.list(command);
    byte[] bytes = new byte[elements.size()];
    for (int i = 0; i < bytes.length; i++) {
      bytes[i] = ((Number) elements.get(i)).byteValue();
    }
    return bytes;
  }

  /** Whether the command contains the whole function: a large one is sent by a broadcast. */
  public boolean isWhole(int place) throws Exception {
    return ((java.util.List) Trees.call(function(node(place)).func(), "broadcastVars")).isEmpty();
  }

  public int evalType(int place) {
    return function(node(place)).evalType();
  }

  /** The schema of the wrapper as JSON: the columns of the function, and then the key with this prefix. */
  public String outputSchema(int place, String prefix) {
    return outputSchema(node(place), prefix).json();
  }

  private static StructType outputSchema(LogicalPlan node, String prefix) {
    StructType all = (StructType) function(node).dataType();
    List keys = keys(node, 0);
    for (int i = 0; i < keys.size(); i++) {
      all = all.add(prefix + i, (DataType) ((Expression) keys.get(i)).dataType(), true);
    }
    return all;
  }

  public void replace(int place, Object function) {
    replacements.put(function(node(place)).func(), function);
  }

  private LogicalPlan node(int place) {
    return (LogicalPlan) nodes.get(place);
  }

  private static PythonUDF function(LogicalPlan node) {
    Object[] fields = Trees.fields(node);
    for (int i = 0; i < fields.length; i++) {
      if (fields[i] instanceof PythonUDF) {
        return (PythonUDF) fields[i];
      }
    }
    throw new IllegalStateException("no function in " + Trees.name(node));
  }

  /** The expressions by which the rows of a child are grouped. */
  public static List keys(LogicalPlan node, int child) {
    Object[] fields = Trees.fields(node);
    if (GROUP_NODES.contains(Trees.name(node))) {
      return Trees.list(fields[0]);
    }
    int count = ((Number) fields[child]).intValue();
    LogicalPlan side = (LogicalPlan) Trees.list(node.children()).get(child);
    return Trees.list(side.output()).subList(0, count);
  }

  public boolean isReplaced(LogicalPlan node) {
    return isGroupedCall(node) && replacements.containsKey(function(node).func());
  }

  /** The node with the wrapper, whose last columns are the key under these names. */
  public LogicalPlan withKeys(LogicalPlan node, List names) {
    PythonUDF function = function(node);
    List keys = keys(node, 0);
    Object[] parts = Trees.list(function.productIterator().toList()).toArray();
    StructType all = (StructType) function.dataType();
    Object[] fields = Trees.fields(node);
    List output = Trees.list(node.output());
    for (int i = 0; i < keys.size(); i++) {
      DataType type = ((Expression) keys.get(i)).dataType();
      Alias key = Trees.alias(Trees.nullLiteral(type), (String) names.get(i));
      output.add((Attribute) key.toAttribute());
      all = all.add((String) names.get(i), type, true);
    }
    for (int i = 0; i < parts.length; i++) {
      if (parts[i] == function.func()) {
        parts[i] = replacements.get(function.func());
      } else if (parts[i] == function.dataType()) {
        parts[i] = all;
      }
    }
    Expression keyed = (Expression) function.makeCopy(parts);
    for (int i = 0; i < fields.length; i++) {
      if (fields[i] == function) {
        fields[i] = keyed;
      } else if (fields[i] instanceof scala.collection.Seq && fields[i].equals(node.output())) {
        fields[i] = Trees.seq(output);
      }
    }
    return (LogicalPlan) node.makeCopy(fields);
  }
}
