package headwater;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;

/** Leads from a row of one block to its rows in the block below. */
public final class Link {
  public int number;
  public int to;
  public String kind;
  public LogicalPlan node;
  public String present;
  public List columns = new ArrayList(); // matched with the keys of the block below
  public List nullSafe = new ArrayList(); // whether null matches null
  public List conditions = new ArrayList(); // further conditions on both rows
  public List conditionInputs = new ArrayList(); // attributes of the row above in the conditions
  public List conditionColumns = new ArrayList(); // the names under which these are carried
  public List resultPlaces; // positions of the columns' values in a row of the result, if it has all

  public Link(int number, int to, String kind, LogicalPlan node) {
    this.number = number;
    this.to = to;
    this.kind = kind;
    this.node = node;
    this.present = "__hw_l" + number + "_present";
  }

  /** The name of the next column. */
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
