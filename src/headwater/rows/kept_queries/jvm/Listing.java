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

/** Files by path, each with its size and the time it was last changed, and their list as compressed text. */
public final class Listing {
  private final TreeMap lines = new TreeMap();

  public Listing() {}

  /** Of `PartitionDirectory`s, or whatever else has `files`. */
  public void addAll(Object directories) {
    List all = Reach.each(directories);
    for (int i = 0; i < all.size(); i++) {
      List files = Reach.each(Reach.call(all.get(i), "files"));
      for (int j = 0; j < files.size(); j++) {
        add(files.get(j));
      }
    }
  }

  public void add(Object file) {
    if (file instanceof FileStatusWithMetadata) {
      FileStatusWithMetadata known = (FileStatusWithMetadata) file;
      add(known.getPath(), known.getLen(), known.getModificationTime());
    } else {
      FileStatus known = (FileStatus) file;
      add(known.getPath(), known.getLen(), known.getModificationTime());
    }
  }

  private void add(Path path, long size, long time) {
    lines.put(path.toString(), size + "\t" + time + "\t" + path + "\0");
  }

  public int count() {
    return lines.size();
  }

  public Map said() throws Exception {
    Map said = new LinkedHashMap();
    said.put("count", Integer.valueOf(lines.size()));
    said.put("list", text());
    return said;
  }

  /** Each as size, time and path, ended by a NUL, which no path has. */
  public String text() throws Exception {
    ByteArrayOutputStream collected = new ByteArrayOutputStream();
    DeflaterOutputStream out = new DeflaterOutputStream(collected);
    for (Iterator each = lines.values().iterator(); each.hasNext(); ) {
      out.write(((String) each.next()).getBytes("UTF-8"));
    }
    out.close();
    return Base64.getEncoder().encodeToString(collected.toByteArray());
  }
}
