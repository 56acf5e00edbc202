package headwater;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicLong;

import com.fasterxml.jackson.databind.ObjectMapper;
import org.apache.spark.SparkContext;
import org.apache.spark.executor.OutputMetrics;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerApplicationEnd;
import org.apache.spark.scheduler.SparkListenerEvent;
import org.apache.spark.scheduler.SparkListenerJobStart;
import org.apache.spark.scheduler.SparkListenerStageCompleted;
import org.apache.spark.sql.catalyst.plans.logical.Command;
import org.apache.spark.sql.execution.QueryExecution;
import org.apache.spark.sql.execution.SQLExecution;
import org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionEnd;
import org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionStart;
import org.apache.spark.sql.streaming.StreamingQueryListener;

/**
 * Hears of SQL executions and puts what may have written data into a queue. It runs on Spark's listener thread and does
 * nothing there but that: Python reads the queue in its own time. Compiled when the session is enabled, by the compiler
 * that Spark itself brings, so that one source fits every Spark and Scala version.
 */
public final class Ear extends SparkListener {
  private final LinkedBlockingQueue queue;
  private final AtomicLong missed = new AtomicLong();
  private final ObjectMapper json = new ObjectMapper();
  private final Work.Steps steps = new Work.Steps();
  private final Records records = new Records();
  private final Map lastRdd = new LinkedHashMap();
  private final SparkContext context;

  public Ear(SparkContext context, Integer capacity) {
    this.context = context;
    queue = new LinkedBlockingQueue(capacity.intValue());
  }

  /** In a queue of its own: if we are slow, no other listener waits. */
  public void listen(String queueName) {
    context.listenerBus().addToQueue(this, queueName);
  }

  public void leave() {
    context.listenerBus().removeListener(this);
  }

  /** Hear of this again when everything that has happened before has been heard. */
  public void mark(String said) {
    if (context.isStopped()) {
      queue.offer(new Object[] {said, null}); // Spark tells its listeners everything before it stops
    } else {
      context.listenerBus().post(new Mark(said));
    }
  }

  public LinkedBlockingQueue queue() {
    return queue;
  }

  /** How many messages found the queue full. */
  public long missed() {
    return missed.get();
  }

  /** A message to ourselves, among Spark's own events. */
  public static final class Mark implements SparkListenerEvent {
    private final String said;

    public Mark(String said) {
      this.said = said;
    }

    public boolean logEvent() {
      return false; // for us alone, not for Spark's event log
    }
  }

  public void onOtherEvent(SparkListenerEvent event) {
    try {
      if (event instanceof Mark) {
        queue.offer(new Object[] {((Mark) event).said, null});
      } else if (event instanceof SparkListenerSQLExecutionStart) {
        started((SparkListenerSQLExecutionStart) event);
      } else if (event instanceof SparkListenerSQLExecutionEnd) {
        ended((SparkListenerSQLExecutionEnd) event);
      } else if (event instanceof StreamingQueryListener.Event) {
        streaming(event);
      } else if (event.getClass().getSimpleName().equals("DropTableEvent")) {
        dropped(event);
      }
    } catch (Throwable trouble) {
      missed.incrementAndGet();
    }
  }

  /** The newest RDD of an execution: for a checkpoint, the one that the frame goes on with. */
  public void onJobStart(SparkListenerJobStart event) {
    String execution = event.properties() == null ? null : event.properties().getProperty("spark.sql.execution.id");
    if (execution == null) {
      return;
    }
    try {
      records.willRun(execution, Survey.each(Survey.follow(event, "stageInfos.*.stageId")));
      List rdds = Survey.each(Survey.follow(event, "stageInfos.*.rddInfos.head.id"));
      for (int i = 0; i < rdds.size(); i++) {
        Integer known = (Integer) lastRdd.get(execution);
        Integer rdd = (Integer) rdds.get(i);
        lastRdd.put(execution, known == null || rdd.intValue() > known.intValue() ? rdd : known);
      }
    } catch (Exception unknown) {
      lastRdd.remove(execution); // a frame that is used twice may then be a source of its own
    }
  }

  public void onStageCompleted(SparkListenerStageCompleted event) {
    OutputMetrics written = event.stageInfo().taskMetrics().outputMetrics();
    records.stageEnded(event.stageInfo().stageId(), written.recordsWritten(), written.bytesWritten());
  }

  public void onApplicationEnd(SparkListenerApplicationEnd event) {
    Map said = new LinkedHashMap();
    said.put("time", Long.valueOf(event.time()));
    tell("application-end", said, null);
  }

  private void started(SparkListenerSQLExecutionStart event) throws Exception {
    Object root = Survey.plain(Survey.follow(event, "rootExecutionId"));
    steps.began(event.executionId(), root);
    QueryExecution execution = SQLExecution.getQueryExecution(event.executionId());
    records.began(event.executionId(), root, execution != null && matters(execution));
    if (execution == null || !matters(execution)) {
      return;
    }
    Map said = new LinkedHashMap();
    said.put("time", Long.valueOf(event.time()));
    said.put("tags", Survey.plain(Survey.follow(event, "jobTags")));
    said.put("settings", Survey.plain(Survey.follow(event, "modifiedConfigs"))); // they may be others by the time we ask
    about(execution, said);
    List works = Work.of(execution, new ArrayList(), null);
    for (int i = 0; i < works.size(); i++) {
      Object id = idOf(event.executionId(), works.size(), i);
      said.put("id", id);
      said.put("root", root == null || root.equals(Long.valueOf(event.executionId())) ? id : root);
      tell("start", said, works.get(i));
    }
  }

  private void ended(SparkListenerSQLExecutionEnd event) throws Exception {
    Object rdd = lastRdd.remove(String.valueOf(event.executionId()));
    List written = records.ended(event.executionId());
    QueryExecution execution = event.qe();
    Object root = steps.rootOf(event.executionId());
    List own = steps.ended(event.executionId(), execution != null && matters(execution) ? execution : null);
    if (execution == null) {
      return;
    }
    Object name = Survey.plain(event.executionName());
    boolean checkpoint = "checkpoint".equals(name) || "localCheckpoint".equals(name);
    if (!checkpoint && !matters(execution)) {
      return;
    }
    Map said = new LinkedHashMap();
    said.put("time", Long.valueOf(event.time()));
    said.put("checkpoint", Boolean.valueOf(checkpoint));
    Object failure = Survey.plain(Survey.follow(event, "errorMessage"));
    said.put("failure", failure == null || "".equals(failure) ? null : failure);
    said.put("trace", Survey.plain(Survey.follow(event, "executionFailure.getStackTrace")));
    about(execution, said);
    List works = Work.of(execution, own, rdd);
    said.put("recordsWritten", works.size() == 1 ? written : null); // several commands share their tasks' numbers
    for (int i = 0; i < works.size(); i++) {
      Object id = idOf(event.executionId(), works.size(), i);
      said.put("id", id);
      said.put("root", root == null ? id : root);
      tell("end", said, works.get(i));
    }
  }

  /** One execution may carry out several commands; each then has an id of its own. */
  private static Object idOf(long execution, int works, int place) {
    return works == 1 ? (Object) Long.valueOf(execution) : execution + "/" + place;
  }

  private void streaming(SparkListenerEvent event) throws Exception {
    String kind = event.getClass().getSimpleName();
    Map said = new LinkedHashMap();
    if (kind.equals("QueryProgressEvent")) {
      said.put("runId", Survey.plain(Survey.follow(event, "progress.runId")));
      said.put("progress", Survey.plain(Survey.follow(event, "progress.json")));
    } else {
      said.put("id", Survey.plain(Survey.follow(event, "id")));
      said.put("runId", Survey.plain(Survey.follow(event, "runId")));
      said.put("name", Survey.plain(Survey.follow(event, "name")));
      said.put("failure", Survey.plain(Survey.follow(event, "exception")));
      said.put("time", Long.valueOf(System.currentTimeMillis()));
    }
    tell(kind, said, null);
  }

  /** From Spark's own catalog, in the midst of the command that made it so. */
  private void dropped(SparkListenerEvent event) throws Exception {
    Map said = new LinkedHashMap();
    said.put("database", Survey.plain(Survey.follow(event, "database")));
    said.put("table", Survey.plain(Survey.follow(event, "name")));
    tell("dropped", said, null);
  }

  private static boolean matters(QueryExecution execution) {
    return execution.analyzed() instanceof Command || isMicroBatch(execution) || Work.areSeveral(execution.analyzed());
  }

  private static boolean isMicroBatch(QueryExecution execution) {
    return execution.getClass().getSimpleName().equals("IncrementalExecution");
  }

  private static void about(QueryExecution execution, Map said) throws Exception {
    said.put("session", Survey.plain(Survey.follow(execution, "sparkSession.sessionUUID")));
    if (isMicroBatch(execution)) {
      said.put("stream", Survey.plain(Survey.follow(execution, "runId")));
    }
  }

  private void tell(String kind, Map said, Object execution) {
    try {
      said.put("kind", kind);
      if (queue.offer(new Object[] {json.writeValueAsString(said), execution})) {
        return;
      }
    } catch (Exception unsayable) {
      // counted below like a full queue: either way Python does not hear of it
    }
    missed.incrementAndGet();
  }
}
