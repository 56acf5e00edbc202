package headwater;

import java.util.HashMap;
import java.util.Map;

import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.execution.datasources.FileFormat;
import org.apache.spark.sql.execution.datasources.FileStatusCache;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.execution.datasources.InMemoryFileIndex;
import org.apache.spark.sql.execution.datasources.v2.FileDataSourceV2;
import org.apache.spark.sql.internal.SQLConf;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructType;

/**
 * A relation over exactly the files of a list. Spark's reader would look for each of them again, and treats braces in a
 * path as a pattern even with globbing disabled.
 */
public final class PinnedScan {
  private final SparkSession session;
  private final KnownFiles knownFiles = new KnownFiles();
  private scala.collection.immutable.List roots = nothing();

  public PinnedScan(SparkSession session) {
    this.session = session;
  }

  /** Files as "size\ttime\tpath", each ended by NUL. */
  public void add(String lines) {
    String[] files = lines.split("\0");
    for (int i = files.length - 1; i >= 0; i--) {
      String[] parts = files[i].split("\t", 3);
      Path path = new Path(parts[2]);
      long size = Long.parseLong(parts[0]);
      FileStatus status = new FileStatus(size, false, 1, size, Long.parseLong(parts[1]), path);
      knownFiles.statuses.put(path, new FileStatus[] {status});
      roots = roots.$colon$colon(path);
    }
  }

  public LogicalPlan relation(String format, String dataSchema, String partitionSchema, Map options, String base)
      throws Exception {
    StructType data = (StructType) DataType.fromJson(dataSchema);
    StructType partitions = (StructType) DataType.fromJson(partitionSchema);
    Map parameters = new HashMap(options);
    StructType schema = data;
    if (base != null) {
      parameters.put("basePath", base);
      for (int i = 0; i < partitions.fields().length; i++) {
        if (!data.getFieldIndex(partitions.fields()[i].name()).isDefined()) {
          schema = schema.add(partitions.fields()[i]);
        }
      }
    }
    InMemoryFileIndex index = new InMemoryFileIndex(session, roots, map(parameters), new scala.Some(schema), knownFiles,
        (scala.Option) scala.None$.MODULE$, (scala.Option) scala.None$.MODULE$);
    if (!index.partitionSchema().asNullable().equals(partitions.asNullable())) {
      throw new IllegalStateException(
          "the partition columns are " + index.partitionSchema().sql() + ", not " + partitions.sql());
    }
    HadoopFsRelation relation = new HadoopFsRelation(index, partitions, data, (scala.Option) scala.None$.MODULE$,
        format(format), map(options), session);
    return org.apache.spark.sql.execution.datasources.LogicalRelation$.MODULE$.apply(relation, false);
  }

  private static FileFormat format(String name) throws Exception {
    Object source = org.apache.spark.sql.execution.datasources.DataSource$.MODULE$
        .lookupDataSource(name, SQLConf.get()).getDeclaredConstructor(new Class[0]).newInstance(new Object[0]);
    if (source instanceof FileDataSourceV2) {
      source = ((FileDataSourceV2) source).fallbackFileFormat()
          .getDeclaredConstructor(new Class[0]).newInstance(new Object[0]);
    }
    return (FileFormat) source;
  }

  private static scala.collection.immutable.Map map(Map values) {
    scala.collection.immutable.Map map = scala.collection.immutable.Map$.MODULE$.empty();
    java.util.Iterator iterator = values.entrySet().iterator();
    while (iterator.hasNext()) {
      Map.Entry entry = (Map.Entry) iterator.next();
      map = (scala.collection.immutable.Map) map.$plus(new scala.Tuple2(entry.getKey(), entry.getValue()));
    }
    return map;
  }

  private static scala.collection.immutable.List nothing() {
    return (scala.collection.immutable.List) scala.collection.immutable.Nil$.MODULE$;
  }

  /** The statuses of the files, so that Spark does not list them again: they were checked already. */
  private static final class KnownFiles extends FileStatusCache {
    private final Map statuses = new HashMap();

    public scala.Option getLeafFiles(Path path) {
      Object files = statuses.get(path);
      return files == null ? (scala.Option) scala.None$.MODULE$ : new scala.Some(files);
    }

    public void putLeafFiles(Path path, FileStatus[] files) {
      statuses.put(path, files);
    }

    public void invalidateAll() {
      // statuses do not change
    }
  }
}
