package headwater;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import com.fasterxml.jackson.databind.ObjectMapper;
import org.apache.spark.api.python.PythonFunction;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.plans.logical.LocalRelation;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;

/**
 * The query below a write command, made ready to be kept, with the proof that it can be read again: what was written is
 * read back through the reader's own filter, gets its leaves back, and must be the plan it was.
 */
public final class Kept {
  private static final long STACK = 256L << 20; // of address space; Java's streams follow a plan by recursion
  private static final int LONGEST_TEXT = 20000;

  private final int mostNodes;
  private final int mostBytes;
  private final int mostRows;
  private LogicalPlan query;
  private List leaves = new ArrayList();
  private List inside = new ArrayList();
  private Packed packed;
  private String problem;

  public Kept(Object command, Integer mostNodes, Integer mostBytes, Integer mostRows) throws Exception {
    this.mostNodes = mostNodes.intValue();
    this.mostBytes = mostBytes.intValue();
    this.mostRows = mostRows.intValue();
    this.query = (LogicalPlan) new Query(command).plan();
    if (query == null) {
      problem = "the command " + command.getClass().getSimpleName() + " does not show the query that it writes";
      return;
    }
    Deep.run(new Keeping(this), STACK);
  }

  public List leaves() {
    return leaves;
  }

  /** All there is to tell of it, in one call: why there is no plan to keep, or the plan. */
  public String said() throws Exception {
    Map said = new LinkedHashMap();
    if (packed == null) {
      said.put("problem", problem);
    } else {
      said.put("bytes", packed.text());
      said.put("digest", packed.digest());
      said.put("python", packed.python());
      said.put("text", text());
      said.put("columns", columns());
      said.put("inside", inside);
    }
    return new ObjectMapper().writeValueAsString(said);
  }

  private List columns() {
    List names = new ArrayList();
    scala.collection.Iterator each = query.output().iterator();
    while (each.hasNext()) {
      names.add(((Attribute) each.next()).name());
    }
    return names;
  }

  /** The plan for people to read. */
  private String text() {
    String text = query.toString();
    return text.length() <= LONGEST_TEXT ? text : text.substring(0, LONGEST_TEXT) + "\n…";
  }

  private static final class Keeping implements Runnable {
    private final Kept kept;

    public Keeping(Kept kept) {
      this.kept = kept;
    }

    public void run() {
      kept.keep();
    }
  }

  private void keep() {
    try {
      int nodes = count(query);
      if (nodes > mostNodes) {
        problem = "the plan has " + nodes + " operators; up to " + mostNodes + " are kept";
        return;
      }
      LogicalPlan plain = Holes.withoutViews(query);
      leaves = Holes.leaves(plain);
      for (int i = 0; i < leaves.size(); i++) {
        inside.add(Boolean.valueOf(travels(leaves.get(i))));
      }
      packed = new Packed(Holes.empty(plain, inside), Integer.valueOf(mostBytes));
      problem = disproof(plain);
    } catch (java.io.NotSerializableException closed) {
      problem = "the plan holds " + closed.getMessage() + ", which cannot be written down";
    } catch (java.io.InvalidObjectException unlisted) {
      problem = "the plan holds " + unlisted.getMessage();
    } catch (StackOverflowError deep) {
      problem = "the plan is nested too deep to be written down";
    } catch (Exception trouble) {
      problem = String.valueOf(trouble.getMessage());
    }
    if (problem != null) {
      packed = null;
    }
  }

  /** Why what was written down cannot be read as the same plan, or null if it can. */
  private String disproof(LogicalPlan plain) throws Exception {
    for (int i = 0; i < packed.functions().size(); i++) {
      if (!((PythonFunction) packed.functions().get(i)).broadcastVars().isEmpty()) {
        return "a Python function uses a broadcast variable, which is gone with the session";
      }
    }
    Allowed filter = new Allowed(Boolean.TRUE);
    LogicalPlan read;
    try {
      read = (LogicalPlan) Packed.read(packed.bytes(), filter, packed.functions());
    } catch (java.io.ObjectStreamException refused) {
      return "the plan could not be read again: "
          + (filter.refused() == null ? refused.getMessage() : filter.refused());
    }
    LogicalPlan back = Holes.filled(read, leaves);
    return back.equals(plain) || back.sameResult(plain) ? null : "the plan is not the same after it was written down";
  }

  private boolean travels(Object leaf) {
    if (Holes.isMadeUp(leaf)) {
      return true;
    }
    return leaf instanceof LocalRelation && ((LocalRelation) leaf).data().size() <= mostRows;
  }

  private static int count(LogicalPlan plan) {
    int found = 1;
    scala.collection.Iterator below = plan.children().iterator();
    while (below.hasNext()) {
      found += count((LogicalPlan) below.next());
    }
    scala.collection.Iterator aside = plan.subqueries().iterator();
    while (aside.hasNext()) {
      found += count((LogicalPlan) aside.next());
    }
    return found;
  }
}
