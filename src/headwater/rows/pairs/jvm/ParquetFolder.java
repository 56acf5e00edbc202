package headwater;

import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import com.fasterxml.jackson.databind.ObjectMapper;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.parquet.hadoop.ParquetFileReader;
import org.apache.parquet.hadoop.metadata.BlockMetaData;
import org.apache.parquet.hadoop.metadata.ColumnChunkMetaData;
import org.apache.parquet.hadoop.util.HadoopInputFile;

/** A folder on any Hadoop file system, and statistics of its Parquet files. */
public final class ParquetFolder {
  private final Configuration conf;
  private final Path path;
  private final FileSystem system;

  public ParquetFolder(Configuration conf, String folder) throws Exception {
    this.conf = conf;
    Path given = new Path(folder);
    this.system = given.getFileSystem(conf);
    this.path = system.makeQualified(given);
  }

  public String location() {
    return path.toString();
  }

  public void remove() throws Exception {
    system.delete(path, true);
  }

  public void write(String name, String text) throws Exception {
    FSDataOutputStream out = system.create(new Path(path, name), true);
    try {
      out.write(text.getBytes(StandardCharsets.UTF_8));
    } finally {
      out.close();
    }
  }

  /** Each Parquet file with its size and digest; and the total of rows, and of values and bytes by column. */
  public String facts() throws Exception {
    FileStatus[] statuses = system.listStatus(path);
    List files = new ArrayList();
    Map columns = new LinkedHashMap();
    long rows = 0;
    for (int i = 0; i < statuses.length; i++) {
      String name = statuses[i].getPath().getName();
      if (!name.endsWith(".parquet")) {
        continue;
      }
      Map file = new LinkedHashMap();
      file.put("name", name);
      file.put("size", Long.valueOf(statuses[i].getLen()));
      file.put("sha256", sha256(statuses[i].getPath()));
      files.add(file);
      rows += add(statuses[i], columns);
    }
    Map facts = new LinkedHashMap();
    facts.put("files", files);
    facts.put("rows", Long.valueOf(rows));
    facts.put("columns", columns);
    return new ObjectMapper().writeValueAsString(facts);
  }

  private long add(FileStatus file, Map columns) throws Exception {
    ParquetFileReader reader = ParquetFileReader.open(HadoopInputFile.fromStatus(file, conf));
    try {
      long rows = 0;
      List blocks = reader.getFooter().getBlocks();
      for (int i = 0; i < blocks.size(); i++) {
        BlockMetaData block = (BlockMetaData) blocks.get(i);
        rows += block.getRowCount();
        List chunks = block.getColumns();
        for (int j = 0; j < chunks.size(); j++) {
          ColumnChunkMetaData chunk = (ColumnChunkMetaData) chunks.get(j);
          String name = chunk.getPath().toArray()[0];
          long[] sums = (long[]) columns.get(name);
          if (sums == null) {
            sums = new long[2];
            columns.put(name, sums);
          }
          long nulls = Math.max(0L, chunk.getStatistics().getNumNulls());
          sums[0] += chunk.getValueCount() - nulls;
          sums[1] += chunk.getTotalSize();
        }
      }
      return rows;
    } finally {
      reader.close();
    }
  }

  private String sha256(Path file) throws Exception {
    MessageDigest digest = MessageDigest.getInstance("SHA-256");
    byte[] part = new byte[1 << 16];
    InputStream in = system.open(file);
    try {
      for (int read = in.read(part); read >= 0; read = in.read(part)) {
        digest.update(part, 0, read);
      }
    } finally {
      in.close();
    }
    StringBuilder text = new StringBuilder();
    byte[] sum = digest.digest();
    for (int i = 0; i < sum.length; i++) {
      text.append(String.format("%02x", new Object[] {Byte.valueOf(sum[i])}));
    }
    return text.toString();
  }
}
