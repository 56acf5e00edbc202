package headwater;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

import com.fasterxml.jackson.databind.ObjectMapper;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.plans.logical.LocalRelation;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.execution.CommandResultExec;
import org.apache.spark.sql.execution.FileSourceScanExec;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanExec;
import org.apache.spark.sql.execution.adaptive.QueryStageExec;
import org.apache.spark.sql.execution.columnar.InMemoryTableScanExec;
import org.apache.spark.sql.execution.datasources.FileIndex;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.execution.datasources.LogicalRelation;
import org.apache.spark.sql.execution.datasources.v2.BatchScanExec;
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation;
import org.apache.spark.sql.execution.datasources.v2.FileTable;
import org.apache.spark.sql.execution.exchange.ReusedExchangeExec;
import org.apache.spark.sql.sources.DataSourceRegister;
import org.apache.spark.sql.types.StructType;

/**
 * Describes as JSON what each leaf of a plan has read. The scans of the executed plan take precedence over the leaf: a
 * relation may list its files again after the write, and a table's version changes.
 */
public final class SourcePins {
  private final List scans = new ArrayList();
  private final int maxFiles;
  private final ObjectMapper json = new ObjectMapper();

  public SourcePins(Object executed, Integer maxFiles) {
    this.maxFiles = maxFiles.intValue();
    collect(executed, java.util.Collections.newSetFromMap(new java.util.IdentityHashMap()));
  }

  public String describe(List leaves) throws Exception {
    List descriptions = new ArrayList();
    for (int i = 0; i < leaves.size(); i++) {
      descriptions.add(describe((LogicalPlan) leaves.get(i)));
    }
    return json.writeValueAsString(descriptions);
  }

  private Map describe(LogicalPlan leaf) throws Exception {
    Map description = new LinkedHashMap();
    description.put("class", leaf.getClass().getSimpleName());
    description.put("ids", new ArrayList(ids(leaf.output())));
    if (PlanLeaves.isSelfContained(leaf)) {
      description.put("kind", "range");
    } else if (leaf instanceof LocalRelation || leaf.getClass().getSimpleName().endsWith("RDD")) {
      description.put("kind", "memory");
    } else if (leaf instanceof LogicalRelation) {
      relation((LogicalRelation) leaf, description);
    } else if (leaf instanceof DataSourceV2Relation) {
      table((DataSourceV2Relation) leaf, description);
    }
    return description;
  }

  private void relation(LogicalRelation leaf, Map description) throws Exception {
    Object relation = leaf.relation();
    description.put("relation", relation.getClass().getSimpleName());
    if (!(relation instanceof HadoopFsRelation)) {
      String name = relation.getClass().getSimpleName();
      description.put("kind", name.startsWith("JDBC") ? "jdbc" : name.startsWith("Kafka") ? "kafka" : "other");
      return;
    }
    HadoopFsRelation files = (HadoopFsRelation) relation;
    description.put("options", asMap(files.options()));
    Set ids = ids(leaf.output());
    Object version = Reflection.call(files.location(), "version");
    if (version != null && files.location().getClass().getName().indexOf("delta") >= 0) {
      for (int i = 0; i < scans.size(); i++) {
        if (reads(scans.get(i), ids)) {
          Object scanned = Reflection.call(((FileSourceScanExec) scans.get(i)).relation().location(), "version");
          version = scanned == null ? version : scanned;
        }
      }
      description.put("kind", "delta");
      description.put("version", String.valueOf(version));
      description.put("path", String.valueOf(files.location().rootPaths().head()));
      return;
    }
    description.put("kind", "files");
    description.put("format", files.fileFormat() instanceof DataSourceRegister
        ? ((DataSourceRegister) files.fileFormat()).shortName() : files.fileFormat().getClass().getName());
    schema(files.dataSchema(), files.partitionSchema(), description);
    list(files.location(), ids, description);
  }

  private void table(DataSourceV2Relation leaf, Map description) throws Exception {
    Object table = leaf.table();
    String name = table.getClass().getName();
    description.put("relation", table.getClass().getSimpleName());
    description.put("options", asMap(leaf.options()));
    if (table instanceof FileTable) {
      FileTable files = (FileTable) table;
      description.put("kind", "files");
      description.put("format", files.formatName().toLowerCase());
      schema(files.dataSchema(), files.fileIndex().partitionSchema(), description);
      list(files.fileIndex(), ids(leaf.output()), description);
    } else if (name.startsWith("org.apache.iceberg.")) {
      description.put("kind", "iceberg");
      iceberg(leaf, description);
    } else {
      description.put("kind", name.indexOf("jdbc") >= 0 ? "jdbc" : name.indexOf("kafka") >= 0 ? "kafka" : "other");
    }
  }

  /** Adds the snapshot of the scan, else that of the relation. */
  private void iceberg(DataSourceV2Relation leaf, Map description) throws Exception {
    Set ids = ids(leaf.output());
    Object snapshot = null;
    for (int i = 0; i < scans.size(); i++) {
      if (scans.get(i) instanceof BatchScanExec && reads(scans.get(i), ids)) {
        Object scan = Reflection.call(((BatchScanExec) scans.get(i)).scan(), "snapshotId");
        snapshot = scan == null ? snapshot : scan;
      }
    }
    if (snapshot == null) {
      snapshot = Reflection.call(leaf.table(), "snapshotId");
    }
    Object inner = Reflection.call(leaf.table(), "table");
    if (snapshot == null) {
      snapshot = Reflection.call(Reflection.call(inner, "currentSnapshot"), "snapshotId");
    }
    description.put("version", snapshot == null ? null : String.valueOf(snapshot));
    description.put("path", String.valueOf(Reflection.call(inner, "location")));
    if (leaf.catalog().isDefined() && leaf.identifier().isDefined()) {
      List name = new ArrayList();
      name.add(Reflection.call(leaf.catalog().get(), "name"));
      String[] namespace = (String[]) Reflection.call(leaf.identifier().get(), "namespace");
      for (int i = 0; i < namespace.length; i++) {
        name.add(namespace[i]);
      }
      name.add(Reflection.call(leaf.identifier().get(), "name"));
      description.put("table", name);
    }
  }

  private static void schema(StructType data, StructType partitions, Map description) {
    description.put("schema", data.json());
    description.put("partitions", partitions.json());
  }

  private void list(FileIndex index, Set ids, Map description) throws Exception {
    FileListing listing = new FileListing();
    boolean scanned = false;
    for (int i = 0; i < scans.size(); i++) {
      if (scans.get(i) instanceof FileSourceScanExec && reads(scans.get(i), ids)) {
        Object selected = Reflection.call(scans.get(i), "selectedPartitions");
        Object directories = Reflection.call(selected, "filePartitionIterator"); // since Spark 4
        listing.addAll(directories == null ? selected : directories);
        scanned = true;
      }
    }
    if (!scanned) {
      listing.addAll(index.listFiles((scala.collection.immutable.List) scala.collection.immutable.Nil$.MODULE$,
          (scala.collection.immutable.List) scala.collection.immutable.Nil$.MODULE$));
    }
    description.put("scanned", Boolean.valueOf(scanned));
    description.put("count", Integer.valueOf(listing.count()));
    if (listing.count() <= maxFiles) {
      description.put("files", listing.describe());
    }
  }

  private static boolean reads(Object scan, Set ids) {
    Set read = ids(((SparkPlan) scan).output());
    read.retainAll(ids);
    return !read.isEmpty();
  }

  /**
   * Collects the scans of an executed plan, including subqueries, stages of adaptive plans, and plans below a cache.
   */
  private void collect(Object plan, Set seen) {
    if (plan == null || !seen.add(plan)) {
      return;
    }
    if (plan instanceof FileSourceScanExec || plan instanceof BatchScanExec) {
      scans.add(plan);
    }
    if (plan instanceof SparkPlan) {
      collectAll(((SparkPlan) plan).children(), seen);
      collectAll(((SparkPlan) plan).subqueries(), seen);
    } else {
      collectAll(Reflection.call(plan, "children"), seen); // other plans
    }
    if (plan instanceof AdaptiveSparkPlanExec) {
      collect(((AdaptiveSparkPlanExec) plan).executedPlan(), seen);
    } else if (plan instanceof QueryStageExec) {
      collect(((QueryStageExec) plan).plan(), seen);
    } else if (plan instanceof ReusedExchangeExec) {
      collect(((ReusedExchangeExec) plan).child(), seen);
    } else if (plan instanceof CommandResultExec) {
      collect(((CommandResultExec) plan).commandPhysicalPlan(), seen);
    } else if (plan instanceof InMemoryTableScanExec) {
      collect(((InMemoryTableScanExec) plan).relation().cachedPlan(), seen);
    }
  }

  private void collectAll(Object plans, Set seen) {
    List all = Trees.list(plans);
    for (int i = 0; i < all.size(); i++) {
      collect(all.get(i), seen);
    }
  }

  private static Set ids(scala.collection.Seq output) {
    Set ids = new java.util.LinkedHashSet();
    List columns = Trees.list(output);
    for (int i = 0; i < columns.size(); i++) {
      ids.add(Long.valueOf(((Attribute) columns.get(i)).exprId().id()));
    }
    return ids;
  }

  private static Map asMap(Object options) {
    Map description = new LinkedHashMap();
    if (options instanceof Map) {
      description.putAll((Map) options);
    } else {
      scala.collection.Iterator iterator = ((scala.collection.Map) options).iterator();
      while (iterator.hasNext()) {
        scala.Tuple2 entry = (scala.Tuple2) iterator.next();
        description.put(entry._1(), entry._2());
      }
    }
    return description;
  }
}
