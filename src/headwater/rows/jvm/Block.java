package headwater;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;

/** A part of a plan whose rows carry their ids from its leaves to its top. */
public final class Block {
  public int number;
  public String kind;
  public String text;
  public LogicalPlan plan;
  public List keys = new ArrayList();
  public List sources = new ArrayList();
  public List links = new ArrayList(); // their numbers

  public Block(int number, String kind, LogicalPlan owner) {
    this.number = number;
    this.kind = kind;
    this.text = owner.simpleString(40);
  }

  public Map described(List all) {
    Map said = new LinkedHashMap();
    said.put("number", Integer.valueOf(number));
    said.put("kind", kind);
    said.put("text", text);
    said.put("keys", keys);
    said.put("sources", sources);
    List down = new ArrayList();
    for (int i = 0; i < links.size(); i++) {
      down.add(((Link) all.get(((Integer) links.get(i)).intValue())).described());
    }
    said.put("links", down);
    return said;
  }
}
