package headwater;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.List;

import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;

/** The distinct rows of a frame, which may have columns that Spark's own DISTINCT refuses: maps, variants, intervals. */
public final class DistinctRows {
  private static final Object[] HASHES = {"__hw_d0", "__hw_d1"};

  private DistinctRows() {}

  public static Object of(Trees trees, Object frame) throws Exception {
    LogicalPlan plan = Trees.plan(frame);
    List outputs = Trees.list(plan.output());
    boolean comparable = true;
    for (int i = 0; i < outputs.size(); i++) {
      comparable = comparable && RowHash.isComparable(((Attribute) outputs.get(i)).dataType());
    }
    if (comparable) {
      return Trees.call(frame, "distinct");
    }
    List names = Arrays.asList(HASHES);
    Object hashed = trees.frame(new RowHash(Boolean.TRUE).addTo(trees, plan, outputs, names));
    String[] hashes = new String[] {(String) HASHES[0], (String) HASHES[1]};
    Class[] parameters = new Class[] {String[].class};
    Method dropDuplicates = hashed.getClass().getMethod("dropDuplicates", parameters);
    LogicalPlan unique = Trees.plan(dropDuplicates.invoke(hashed, new Object[] {hashes}));
    return trees.frame(new Project(Trees.seq(outputs), unique));
  }
}
