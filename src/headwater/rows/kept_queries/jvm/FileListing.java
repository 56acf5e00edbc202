package headwater;

import java.io.ByteArrayOutputStream;
import java.util.Base64;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.zip.DeflaterOutputStream;

import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.execution.datasources.FileStatusWithMetadata;

/** Files by path, each with its size and modification time, and their list as compressed text. */
public final class FileListing {
  private final TreeMap lines = new TreeMap();

  public FileListing() {}

  /** Adds the files of `PartitionDirectory` objects, or of others that have `files`. */
  public void addAll(Object directories) {
    List all = Trees.list(directories);
    for (int i = 0; i < all.size(); i++) {
      List files = Trees.list(Reflection.call(all.get(i), "files"));
      for (int j = 0; j < files.size(); j++) {
        add(files.get(j));
      }
    }
  }

  public void add(Object file) {
    if (file instanceof FileStatusWithMetadata) {
      FileStatusWithMetadata status = (FileStatusWithMetadata) file;
      add(status.getPath(), status.getLen(), status.getModificationTime());
    } else {
      FileStatus status = (FileStatus) file;
      add(status.getPath(), status.getLen(), status.getModificationTime());
    }
  }

  private void add(Path path, long size, long time) {
    lines.put(path.toString(), size + "\t" + time + "\t" + path + "\0");
  }

  public int count() {
    return lines.size();
  }

  public Map describe() throws Exception {
    Map description = new LinkedHashMap();
    description.put("count", Integer.valueOf(lines.size()));
    description.put("list", text());
    return description;
  }

  /** Each file as size, time and path, terminated by NUL, which no path contains. */
  public String text() throws Exception {
    ByteArrayOutputStream collected = new ByteArrayOutputStream();
    DeflaterOutputStream out = new DeflaterOutputStream(collected);
    for (Iterator iterator = lines.values().iterator(); iterator.hasNext(); ) {
      out.write(((String) iterator.next()).getBytes("UTF-8"));
    }
    out.close();
    return Base64.getEncoder().encodeToString(collected.toByteArray());
  }
}
