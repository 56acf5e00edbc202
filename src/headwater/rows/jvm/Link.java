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
  public String here;
  public List columns = new ArrayList(); // found again as the keys of the block below
  public List safe = new ArrayList(); // whether null finds null
  public List conditions = new ArrayList(); // what else must hold between the row here and one there
  public List seen = new ArrayList(); // the attributes here that the conditions are about
  public List seenAs = new ArrayList(); // and the names under which they are carried
  public List direct; // the places of the columns' values in a row of the result, if they all are there

  public Link(int number, int to, String kind, LogicalPlan node) {
    this.number = number;
    this.to = to;
    this.kind = kind;
    this.node = node;
    this.here = "__hw_l" + number + "_here";
  }

  /** A name for the next of its columns. */
  public String next() {
    return "__hw_l" + number + "_" + (columns.size() + seenAs.size());
  }

  public Map described() {
    Map said = new LinkedHashMap();
    said.put("number", Integer.valueOf(number));
    said.put("to", Integer.valueOf(to));
    said.put("kind", kind);
    said.put("text", node.simpleString(40));
    said.put("here", here);
    said.put("columns", columns);
    said.put("safe", safe);
    said.put("seen", seenAs);
    said.put("direct", direct);
    return said;
  }
}
