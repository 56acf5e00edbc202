package headwater;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;

/** A part of a plan whose rows carry the ids of their source rows from its leaves to its top. */
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

  public Map describe(List allLinks) {
    Map description = new LinkedHashMap();
    description.put("number", Integer.valueOf(number));
    description.put("kind", kind);
    description.put("text", text);
    description.put("keys", keys);
    description.put("sources", sources);
    List linkDescriptions = new ArrayList();
    for (int i = 0; i < links.size(); i++) {
      linkDescriptions.add(((Link) allLinks.get(((Integer) links.get(i)).intValue())).describe());
    }
    description.put("links", linkDescriptions);
    return description;
  }
}
