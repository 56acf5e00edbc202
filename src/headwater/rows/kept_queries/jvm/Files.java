package headwater;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.LocatedFileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RemoteIterator;

/** Files as they are now. */
public final class Files {
  private static final int AT_ONCE = 16;
  private final Configuration conf;

  public Files(Configuration conf) {
    this.conf = conf;
  }

  /** The size and time of each path, as "size\ttime"; an empty text for one that is not there. NULs are in between. */
  public String now(String joined) throws Exception {
    String[] paths = joined.split("\0");
    ExecutorService workers = Executors.newFixedThreadPool(AT_ONCE);
    try {
      List asked = new ArrayList();
      for (int i = 0; i < paths.length; i++) {
        asked.add(workers.submit((Callable) new Look(new Path(paths[i]), conf)));
      }
      StringBuilder found = new StringBuilder();
      for (int i = 0; i < asked.size(); i++) {
        found.append(i == 0 ? "" : "\0").append(((Future) asked.get(i)).get());
      }
      return found.toString();
    } finally {
      workers.shutdownNow();
    }
  }

  /** What lies in a folder and was written since; null if it is gone or holds more than can be looked through. */
  public Listing since(String folder, Long time, Integer most, Long milliseconds) {
    try {
      return listed(folder, time, most, milliseconds);
    } catch (Exception changing) { // the job has gone on, and writes it anew; each file system says so in its own way
      return null;
    }
  }

  private Listing listed(String folder, Long time, Integer most, Long milliseconds) throws Exception {
    Path path = new Path(folder);
    if (!path.getFileSystem(conf).exists(path)) {
      return null;
    }
    Listing listing = new Listing();
    long until = System.currentTimeMillis() + milliseconds.longValue();
    RemoteIterator each = path.getFileSystem(conf).listFiles(path, true);
    for (int seen = 0; each.hasNext(); seen++) {
      if (seen >= most.intValue() || System.currentTimeMillis() > until) {
        return null;
      }
      LocatedFileStatus file = (LocatedFileStatus) each.next();
      if (file.getModificationTime() >= time.longValue() && !isHidden(file.getPath(), path)) {
        listing.add(file);
      }
    }
    return listing;
  }

  /** As Spark passes over them when it reads: `_SUCCESS`, `_temporary`, `.crc`. */
  private static boolean isHidden(Path file, Path folder) {
    Path step = file;
    while (step != null && step.depth() > folder.depth()) {
      String name = step.getName();
      if (name.startsWith(".") || name.startsWith("_") && name.indexOf('=') < 0) {
        return true;
      }
      step = step.getParent();
    }
    return false;
  }

  private static final class Look implements Callable {
    private final Path path;
    private final Configuration conf;

    public Look(Path path, Configuration conf) {
      this.path = path;
      this.conf = conf;
    }

    public Object call() throws Exception {
      try {
        FileStatus found = path.getFileSystem(conf).getFileStatus(path);
        return found.getLen() + "\t" + found.getModificationTime();
      } catch (java.io.FileNotFoundException gone) {
        return "";
      }
    }
  }
}
