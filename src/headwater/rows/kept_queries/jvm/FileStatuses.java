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

/** The current state of files. */
public final class FileStatuses {
  private static final int THREADS = 16;
  private final Configuration conf;

  public FileStatuses(Configuration conf) {
    this.conf = conf;
  }

  /** The size and time of each path, as "size\ttime"; an empty text for a missing one. Separated by NUL. */
  public String statuses(String joinedPaths) throws Exception {
    String[] paths = joinedPaths.split("\0");
    ExecutorService workers = Executors.newFixedThreadPool(THREADS);
    try {
      List futures = new ArrayList();
      for (int i = 0; i < paths.length; i++) {
        futures.add(workers.submit((Callable) new StatusLookup(new Path(paths[i]), conf)));
      }
      StringBuilder text = new StringBuilder();
      for (int i = 0; i < futures.size(); i++) {
        text.append(i == 0 ? "" : "\0").append(((Future) futures.get(i)).get());
      }
      return text.toString();
    } finally {
      workers.shutdownNow();
    }
  }

  /** The files of a folder that were written since; null if it is missing or has too many files. */
  public FileListing writtenSince(String folder, Long time, Integer maxFiles, Long milliseconds) {
    try {
      return list(folder, time, maxFiles, milliseconds);
    } catch (Exception changing) { // the job is rewriting the folder; file systems report this differently
      return null;
    }
  }

  private FileListing list(String folder, Long time, Integer maxFiles, Long milliseconds) throws Exception {
    Path path = new Path(folder);
    if (!path.getFileSystem(conf).exists(path)) {
      return null;
    }
    FileListing listing = new FileListing();
    long until = System.currentTimeMillis() + milliseconds.longValue();
    RemoteIterator statuses = path.getFileSystem(conf).listFiles(path, true);
    for (int count = 0; statuses.hasNext(); count++) {
      if (count >= maxFiles.intValue() || System.currentTimeMillis() > until) {
        return null;
      }
      LocatedFileStatus file = (LocatedFileStatus) statuses.next();
      if (file.getModificationTime() >= time.longValue() && !isHidden(file.getPath(), path)) {
        listing.add(file);
      }
    }
    return listing;
  }

  /** Whether Spark ignores the file when it reads, as `_SUCCESS`, `_temporary` and `.crc`. */
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

  private static final class StatusLookup implements Callable {
    private final Path path;
    private final Configuration conf;

    public StatusLookup(Path path, Configuration conf) {
      this.path = path;
      this.conf = conf;
    }

    public Object call() throws Exception {
      try {
        FileStatus status = path.getFileSystem(conf).getFileStatus(path);
        return status.getLen() + "\t" + status.getModificationTime();
      } catch (java.io.FileNotFoundException missing) {
        return "";
      }
    }
  }
}
