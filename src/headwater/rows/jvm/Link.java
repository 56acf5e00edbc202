package headwater;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;

/** From a row of one block to its rows in the block below. */
public final class Link {
  public int number;
  public int to;
  public String kind;
  public LogicalPlan node;
  public String present;
  public List columns = new ArrayList(); // found again as the keys of the block below
  public List nullSafe = new ArrayList(); // whether null finds null
  public List conditions = new ArrayList(); // what else must hold between the row here and one there
  public List conditionInputs = new ArrayList(); // the attributes here that the conditions are about
  public List conditionColumns = new ArrayList(); // and the names under which they are carried
  public List resultPlaces; // the places of the columns' values in a row of the result, if they all are there

  public Link(int number, int to, String kind, LogicalPlan node) {
    this.number = number;
    this.to = to;
    this.kind = kind;
    this.node = node;
    this.present = "__hw_l" + number + "_present";
  }

  /** A name for the next of its columns. */
  public String nextColumn() {
    return "__hw_l" + number + "_" + (columns.size() + conditionColumns.size());
  }

  public Map describe() {
    Map description = new LinkedHashMap();
    description.put("number", Integer.valueOf(number));
    description.put("to", Integer.valueOf(to));
    description.put("kind", kind);
    description.put("text", node.simpleString(40));
    description.put("present", present);
    description.put("columns", columns);
    description.put("nullSafe", nullSafe);
    description.put("conditionColumns", conditionColumns);
    description.put("resultPlaces", resultPlaces);
    return description;
  }
}
