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
 * A Spark listener that puts each SQL execution that may write data into a queue, which Python polls. Nothing else
 * happens on Spark's listener thread. Compiled when the session is enabled, by the compiler that Spark itself brings,
 * so that one source fits every Spark and Scala version. That compiler, Janino, supports no generics and no lambdas.
 */
public final class ListenerQueue extends SparkListener {
  private final LinkedBlockingQueue queue;
  private final AtomicLong droppedMessages = new AtomicLong();
  private final ObjectMapper json = new ObjectMapper();
  private final ExecutedCommand.Steps steps = new ExecutedCommand.Steps();
  private final TaskOutputMetrics taskOutput = new TaskOutputMetrics();
  private final DriverReads driverReads = new DriverReads();
  private final Map lastRdd = new LinkedHashMap();
  private final SparkContext context;

  public ListenerQueue(SparkContext context, Integer capacity) {
    this.context = context;
    queue = new LinkedBlockingQueue(capacity.intValue());
  }

  /** Registers in a listener queue of its own: if this listener is slow, no other one waits. */
  public void register(String queueName) {
    context.listenerBus().addToQueue(this, queueName);
  }

  public void unregister() {
    context.listenerBus().removeListener(this);
  }

  /** Posts a message that reaches the queue after everything that has happened before. */
  public void postMarker(String message) {
    if (context.isStopped()) {
      queue.offer(new Object[] {message, null}); // Spark delivers all events to its listeners before it stops
    } else {
      context.listenerBus().post(new Marker(message));
    }
  }

  public LinkedBlockingQueue queue() {
    return queue;
  }

  /** What the program has read into the driver so far. */
  public DriverReads driverReads() {
    return driverReads;
  }

  /** Number of messages that were dropped because the queue was full. */
  public long droppedMessages() {
    return droppedMessages.get();
  }

  /** A message of Headwater among Spark's own events. */
  public static final class Marker implements SparkListenerEvent {
    private final String message;

    public Marker(String message) {
      this.message = message;
    }

    public boolean logEvent() {
      return false; // not for Spark's event log
    }
  }

  public void onOtherEvent(SparkListenerEvent event) {
    try {
      if (event instanceof Marker) {
        queue.offer(new Object[] {((Marker) event).message, null});
      } else if (event instanceof SparkListenerSQLExecutionStart) {
        onExecutionStart((SparkListenerSQLExecutionStart) event);
      } else if (event instanceof SparkListenerSQLExecutionEnd) {
        onExecutionEnd((SparkListenerSQLExecutionEnd) event);
      } else if (event instanceof StreamingQueryListener.Event) {
        onStreamingEvent(event);
      } else if (event.getClass().getSimpleName().equals("DropTableEvent")) {
        onDropTable(event);
      }
    } catch (Throwable error) {
      droppedMessages.incrementAndGet();
    }
  }

  /** Remembers the newest RDD of an execution: of a checkpoint, it is the RDD that the DataFrame is read from. */
  public void onJobStart(SparkListenerJobStart event) {
    String execution = event.properties() == null ? null : event.properties().getProperty("spark.sql.execution.id");
    if (execution == null) {
      return;
    }
    try {
      taskOutput.jobStarted(execution, PlanFacts.elements(PlanFacts.follow(event, "stageInfos.*.stageId")));
      List rdds = PlanFacts.elements(PlanFacts.follow(event, "stageInfos.*.rddInfos.head.id"));
      for (int i = 0; i < rdds.size(); i++) {
        Integer known = (Integer) lastRdd.get(execution);
        Integer rdd = (Integer) rdds.get(i);
        lastRdd.put(execution, known == null || rdd.intValue() > known.intValue() ? rdd : known);
      }
    } catch (Exception unknown) {
      lastRdd.remove(execution); // a DataFrame that is used twice may then appear as a source of its own
    }
  }

  public void onStageCompleted(SparkListenerStageCompleted event) {
    OutputMetrics output = event.stageInfo().taskMetrics().outputMetrics();
    taskOutput.stageEnded(event.stageInfo().stageId(), output.recordsWritten(), output.bytesWritten());
  }

  public void onApplicationEnd(SparkListenerApplicationEnd event) {
    Map message = new LinkedHashMap();
    message.put("time", Long.valueOf(event.time()));
    offer("application-end", message, null);
  }

  private void onExecutionStart(SparkListenerSQLExecutionStart event) throws Exception {
    Object root = PlanFacts.plain(PlanFacts.follow(event, "rootExecutionId"));
    steps.executionStarted(event.executionId(), root);
    QueryExecution execution = SQLExecution.getQueryExecution(event.executionId());
    taskOutput.executionStarted(event.executionId(), root, execution != null && mayWrite(execution));
    Object tags = PlanFacts.plain(PlanFacts.follow(event, "jobTags"));
    if (execution == null || !mayWrite(execution)) {
      driverReads.executionStarted(event.executionId(), PlanFacts.elements(tags));
      return;
    }
    Map message = new LinkedHashMap();
    message.put("time", Long.valueOf(event.time()));
    message.put("tags", tags);
    message.put("readsBefore", Boolean.valueOf(!driverReads.isEmpty()));
    // Read now: the settings may have changed by the time Python reads the message.
    message.put("settings", PlanFacts.plain(PlanFacts.follow(event, "modifiedConfigs")));
    addSession(execution, message);
    List commands = ExecutedCommand.of(execution, new ArrayList(), null);
    for (int i = 0; i < commands.size(); i++) {
      Object id = commandId(event.executionId(), commands.size(), i);
      message.put("id", id);
      message.put("root", root == null || root.equals(Long.valueOf(event.executionId())) ? id : root);
      offer("start", message, commands.get(i));
    }
  }

  private void onExecutionEnd(SparkListenerSQLExecutionEnd event) throws Exception {
    Object rdd = lastRdd.remove(String.valueOf(event.executionId()));
    List output = taskOutput.executionEnded(event.executionId());
    QueryExecution execution = event.qe();
    Object root = steps.rootOf(event.executionId());
    List ownSteps = steps.executionEnded(event.executionId(), execution != null && mayWrite(execution) ? execution : null);
    if (execution == null) {
      return;
    }
    Object name = PlanFacts.plain(event.executionName());
    boolean checkpoint = "checkpoint".equals(name) || "localCheckpoint".equals(name);
    if (!checkpoint && !mayWrite(execution)) {
      driverReads.executionEnded(event.executionId(), name, execution);
      return;
    }
    Map message = new LinkedHashMap();
    message.put("time", Long.valueOf(event.time()));
    message.put("checkpoint", Boolean.valueOf(checkpoint));
    Object failure = PlanFacts.plain(PlanFacts.follow(event, "errorMessage"));
    message.put("failure", failure == null || "".equals(failure) ? null : failure);
    message.put("trace", PlanFacts.plain(PlanFacts.follow(event, "executionFailure.getStackTrace")));
    addSession(execution, message);
    List commands = ExecutedCommand.of(execution, ownSteps, rdd);
    // Several commands share the metrics of their tasks.
    message.put("recordsWritten", commands.size() == 1 ? output : null);
    for (int i = 0; i < commands.size(); i++) {
      Object id = commandId(event.executionId(), commands.size(), i);
      message.put("id", id);
      message.put("root", root == null ? id : root);
      offer("end", message, commands.get(i));
    }
  }

  /** An execution with several commands has one id per command. */
  private static Object commandId(long execution, int commands, int index) {
    return commands == 1 ? (Object) Long.valueOf(execution) : execution + "/" + index;
  }

  private void onStreamingEvent(SparkListenerEvent event) throws Exception {
    String kind = event.getClass().getSimpleName();
    Map message = new LinkedHashMap();
    if (kind.equals("QueryProgressEvent")) {
      message.put("runId", PlanFacts.plain(PlanFacts.follow(event, "progress.runId")));
      message.put("progress", PlanFacts.plain(PlanFacts.follow(event, "progress.json")));
    } else {
      message.put("id", PlanFacts.plain(PlanFacts.follow(event, "id")));
      message.put("runId", PlanFacts.plain(PlanFacts.follow(event, "runId")));
      message.put("name", PlanFacts.plain(PlanFacts.follow(event, "name")));
      message.put("failure", PlanFacts.plain(PlanFacts.follow(event, "exception")));
      message.put("time", Long.valueOf(System.currentTimeMillis()));
    }
    offer(kind, message, null);
  }

  /** An event of Spark's own catalog, sent while the DROP command runs. */
  private void onDropTable(SparkListenerEvent event) throws Exception {
    Map message = new LinkedHashMap();
    message.put("database", PlanFacts.plain(PlanFacts.follow(event, "database")));
    message.put("table", PlanFacts.plain(PlanFacts.follow(event, "name")));
    offer("dropped", message, null);
  }

  private static boolean mayWrite(QueryExecution execution) {
    return execution.analyzed() instanceof Command
        || isMicroBatch(execution)
        || ExecutedCommand.hasSeveralCommands(execution.analyzed());
  }

  private static boolean isMicroBatch(QueryExecution execution) {
    return execution.getClass().getSimpleName().equals("IncrementalExecution");
  }

  private static void addSession(QueryExecution execution, Map message) throws Exception {
    message.put("session", PlanFacts.plain(PlanFacts.follow(execution, "sparkSession.sessionUUID")));
    if (isMicroBatch(execution)) {
      message.put("stream", PlanFacts.plain(PlanFacts.follow(execution, "runId")));
    }
  }

  private void offer(String kind, Map message, Object execution) {
    try {
      message.put("kind", kind);
      if (queue.offer(new Object[] {json.writeValueAsString(message), execution})) {
        return;
      }
    } catch (Exception error) {
      // counted below like a full queue: Python does not get the message
    }
    droppedMessages.incrementAndGet();
  }
}
