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
 * What each leaf of a plan has read, told as JSON. What a scan of the executed plan has on its list counts more than
 * what the leaf says: a relation may list its files anew, also after the write, and a table's version moves on.
 */
public final class Pins {
  private final List scans = new ArrayList();
  private final int mostFiles;
  private final ObjectMapper json = new ObjectMapper();

  public Pins(Object executed, Integer mostFiles) {
    this.mostFiles = mostFiles.intValue();
    collect(executed, java.util.Collections.newSetFromMap(new java.util.IdentityHashMap()));
  }

  public String of(List leaves) throws Exception {
    List said = new ArrayList();
    for (int i = 0; i < leaves.size(); i++) {
      said.add(describe((LogicalPlan) leaves.get(i)));
    }
    return json.writeValueAsString(said);
  }

  private Map describe(LogicalPlan leaf) throws Exception {
    Map said = new LinkedHashMap();
    said.put("class", leaf.getClass().getSimpleName());
    said.put("ids", new ArrayList(ids(leaf.output())));
    if (Holes.isMadeUp(leaf)) {
      said.put("kind", "range");
    } else if (leaf instanceof LocalRelation || leaf.getClass().getSimpleName().endsWith("RDD")) {
      said.put("kind", "memory");
    } else if (leaf instanceof LogicalRelation) {
      relation((LogicalRelation) leaf, said);
    } else if (leaf instanceof DataSourceV2Relation) {
      table((DataSourceV2Relation) leaf, said);
    }
    return said;
  }

  private void relation(LogicalRelation leaf, Map said) throws Exception {
    Object relation = leaf.relation();
    said.put("relation", relation.getClass().getSimpleName());
    if (!(relation instanceof HadoopFsRelation)) {
      String name = relation.getClass().getSimpleName();
      said.put("kind", name.startsWith("JDBC") ? "jdbc" : name.startsWith("Kafka") ? "kafka" : "other");
      return;
    }
    HadoopFsRelation files = (HadoopFsRelation) relation;
    said.put("options", plain(files.options()));
    Set ids = ids(leaf.output());
    Object version = Reach.call(files.location(), "version");
    if (version != null && files.location().getClass().getName().indexOf("delta") >= 0) {
      for (int i = 0; i < scans.size(); i++) {
        if (reads(scans.get(i), ids)) {
          Object scanned = Reach.call(((FileSourceScanExec) scans.get(i)).relation().location(), "version");
          version = scanned == null ? version : scanned;
        }
      }
      said.put("kind", "delta");
      said.put("version", String.valueOf(version));
      said.put("path", String.valueOf(files.location().rootPaths().head()));
      return;
    }
    said.put("kind", "files");
    said.put("format", files.fileFormat() instanceof DataSourceRegister
        ? ((DataSourceRegister) files.fileFormat()).shortName() : files.fileFormat().getClass().getName());
    schema(files.dataSchema(), files.partitionSchema(), said);
    list(files.location(), ids, said);
  }

  private void table(DataSourceV2Relation leaf, Map said) throws Exception {
    Object table = leaf.table();
    String name = table.getClass().getName();
    said.put("relation", table.getClass().getSimpleName());
    said.put("options", plain(leaf.options()));
    if (table instanceof FileTable) {
      FileTable files = (FileTable) table;
      said.put("kind", "files");
      said.put("format", files.formatName().toLowerCase());
      schema(files.dataSchema(), files.fileIndex().partitionSchema(), said);
      list(files.fileIndex(), ids(leaf.output()), said);
    } else if (name.startsWith("org.apache.iceberg.")) {
      said.put("kind", "iceberg");
      iceberg(leaf, said);
    } else {
      said.put("kind", name.indexOf("jdbc") >= 0 ? "jdbc" : name.indexOf("kafka") >= 0 ? "kafka" : "other");
    }
  }

  /** The snapshot that the scan has planned with, else the one that the relation was opened at. */
  private void iceberg(DataSourceV2Relation leaf, Map said) throws Exception {
    Set ids = ids(leaf.output());
    Object snapshot = null;
    for (int i = 0; i < scans.size(); i++) {
      if (scans.get(i) instanceof BatchScanExec && reads(scans.get(i), ids)) {
        Object scan = Reach.call(((BatchScanExec) scans.get(i)).scan(), "snapshotId");
        snapshot = scan == null ? snapshot : scan;
      }
    }
    if (snapshot == null) {
      snapshot = Reach.call(leaf.table(), "snapshotId");
    }
    Object inner = Reach.call(leaf.table(), "table");
    if (snapshot == null) {
      snapshot = Reach.call(Reach.call(inner, "currentSnapshot"), "snapshotId");
    }
    said.put("version", snapshot == null ? null : String.valueOf(snapshot));
    said.put("path", String.valueOf(Reach.call(inner, "location")));
    if (leaf.catalog().isDefined() && leaf.identifier().isDefined()) {
      List name = new ArrayList();
      name.add(Reach.call(leaf.catalog().get(), "name"));
      String[] namespace = (String[]) Reach.call(leaf.identifier().get(), "namespace");
      for (int i = 0; i < namespace.length; i++) {
        name.add(namespace[i]);
      }
      name.add(Reach.call(leaf.identifier().get(), "name"));
      said.put("table", name);
    }
  }

  private static void schema(StructType data, StructType partitions, Map said) {
    said.put("schema", data.json());
    said.put("partitions", partitions.json());
  }

  private void list(FileIndex index, Set ids, Map said) throws Exception {
    Listing listing = new Listing();
    boolean scanned = false;
    for (int i = 0; i < scans.size(); i++) {
      if (scans.get(i) instanceof FileSourceScanExec && reads(scans.get(i), ids)) {
        Object selected = Reach.call(scans.get(i), "selectedPartitions");
        Object directories = Reach.call(selected, "filePartitionIterator"); // since Spark 4
        listing.addAll(directories == null ? selected : directories);
        scanned = true;
      }
    }
    if (!scanned) {
      listing.addAll(index.listFiles((scala.collection.immutable.List) scala.collection.immutable.Nil$.MODULE$,
          (scala.collection.immutable.List) scala.collection.immutable.Nil$.MODULE$));
    }
    said.put("scanned", Boolean.valueOf(scanned));
    said.put("count", Integer.valueOf(listing.count()));
    if (listing.count() <= mostFiles) {
      said.put("files", listing.said());
    }
  }

  private static boolean reads(Object scan, Set ids) {
    Set read = ids(((SparkPlan) scan).output());
    read.retainAll(ids);
    return !read.isEmpty();
  }

  /** The scans of an executed plan: those of its subqueries, of the stages of an adaptive plan, and below a cache. */
  private void collect(Object plan, Set seen) {
    if (plan == null || !seen.add(plan)) {
      return;
    }
    if (plan instanceof FileSourceScanExec || plan instanceof BatchScanExec) {
      scans.add(plan);
    }
    if (plan instanceof SparkPlan) {
      each(((SparkPlan) plan).children(), seen);
      each(((SparkPlan) plan).subqueries(), seen);
    } else {
      each(Reach.call(plan, "children"), seen); // plans side by side
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

  private void each(Object found, Set seen) {
    List all = Reach.each(found);
    for (int i = 0; i < all.size(); i++) {
      collect(all.get(i), seen);
    }
  }

  private static Set ids(scala.collection.Seq output) {
    Set ids = new java.util.LinkedHashSet();
    scala.collection.Iterator each = output.iterator();
    while (each.hasNext()) {
      ids.add(Long.valueOf(((Attribute) each.next()).exprId().id()));
    }
    return ids;
  }

  private static Map plain(Object options) {
    Map said = new LinkedHashMap();
    if (options instanceof Map) {
      said.putAll((Map) options);
    } else {
      scala.collection.Iterator each = ((scala.collection.Map) options).iterator();
      while (each.hasNext()) {
        scala.Tuple2 entry = (scala.Tuple2) each.next();
        said.put(entry._1(), entry._2());
      }
    }
    return said;
  }
}
