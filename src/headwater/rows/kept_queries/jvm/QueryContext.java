package headwater;

import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.Arrays;
import java.util.List;

import org.apache.spark.sql.catalyst.expressions.Cast;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * What a query took from its surroundings: the time it ran at, its user, catalog and database, its session's variables
 * and time zone. As literals they are part of the plan, so that the query gives the same rows another day.
 *
 * Spark computes the time once for a query, when it is optimized. A timestamp of that moment among the literals of the
 * optimized plan is the time to the microsecond; where every one was folded into another value, the phase's start
 * gives it to the millisecond.
 */
public final class QueryContext {
  private static final List INSTANTS =
      Arrays.asList(new Object[] {"CurrentTimestamp", "Now", "CurrentBatchTimestamp"});
  private static final List OF_SESSION =
      Arrays.asList(new Object[] {"CurrentUser", "CurrentCatalog", "CurrentDatabase"});
  private static final List SPECIAL_WORDS =
      Arrays.asList(new Object[] {"now", "today", "tomorrow", "yesterday"});

  private final Object session;
  private final long micros;
  private final long wordMicros; // of 'now' as a word, for which Spark takes the time once more, a little later
  private boolean usesTime;

  public QueryContext(Object execution) throws Exception {
    session = Reflection.call(execution, "sparkSession");
    long first = System.currentTimeMillis();
    long last = first;
    Object phases = Reflection.call(Reflection.call(execution, "tracker"), "phases");
    scala.Option phase = ((scala.collection.Map) phases).get("optimization");
    if (phase.isDefined()) {
      first = ((Number) Reflection.call(phase.get(), "startTimeMs")).longValue();
      last = ((Number) Reflection.call(phase.get(), "endTimeMs")).longValue();
    }
    TimeSearch search = new TimeSearch(first * 1000, last * 1000 + 999, zone(null));
    ((LogicalPlan) Reflection.call(execution, "optimizedPlan")).transformAllExpressionsWithSubqueries(search);
    micros = search.earliest == null ? first * 1000 : search.earliest.longValue();
    wordMicros = search.latest == null ? micros : search.latest.longValue();
  }

  /** The plan with literals in place of what it takes from its surroundings. */
  public LogicalPlan fix(Object plan) {
    return (LogicalPlan) ((LogicalPlan) plan).transformAllExpressionsWithSubqueries(new Fixing(this));
  }

  /** The query's own time in ISO 8601; null if the plans that were fixed do not use it. */
  public String time() {
    return usesTime ? instant().toString() : null;
  }

  private Instant instant() {
    return Instant.EPOCH.plus(micros, ChronoUnit.MICROS);
  }

  private Instant wordInstant() {
    return Instant.EPOCH.plus(wordMicros, ChronoUnit.MICROS);
  }

  private ZoneId zone(Object expression) {
    scala.Option own = expression == null ? null : (scala.Option) Reflection.call(expression, "timeZoneId");
    String name = own != null && own.isDefined() ? (String) own.get() : sessionZone();
    return ZoneId.of(name, ZoneId.SHORT_IDS);
  }

  private String sessionZone() {
    Object settings = Reflection.call(Reflection.call(session, "sessionState"), "conf");
    return (String) Reflection.call(settings, "sessionLocalTimeZone");
  }

  private LocalDateTime local(Object expression) {
    return LocalDateTime.ofInstant(instant(), zone(expression));
  }

  private static long microsOf(LocalDateTime time) {
    return ChronoUnit.MICROS.between(Instant.EPOCH, time.toInstant(ZoneOffset.UTC));
  }

  private Object valueOf(Expression expression) throws Exception {
    String name = expression.getClass().getSimpleName();
    if (INSTANTS.contains(name)) {
      return Long.valueOf(micros);
    }
    if (name.equals("LocalTimestamp")) {
      return Long.valueOf(microsOf(local(expression)));
    }
    if (name.equals("CurrentDate")) {
      return Integer.valueOf((int) local(expression).toLocalDate().toEpochDay());
    }
    if (name.equals("CurrentTime")) {
      return Long.valueOf(timeOfDay(expression));
    }
    return expression instanceof Cast ? specialValue((Cast) expression) : null;
  }

  private long timeOfDay(Expression expression) {
    long nanos = local(expression).toLocalTime().toNanoOfDay();
    String type = expression.dataType().catalogString(); // time(3)
    int digits = Integer.parseInt(type.substring(type.indexOf('(') + 1, type.indexOf(')')));
    long unit = 1;
    for (int i = digits; i < 9; i++) {
      unit *= 10;
    }
    return nanos / unit * unit;
  }

  /** `cast('today' as date)` and similar. */
  private Object specialValue(Cast cast) {
    String type = cast.dataType().catalogString();
    boolean isTime = type.equals("date") || type.equals("timestamp") || type.equals("timestamp_ntz");
    if (!isTime || !(cast.child() instanceof Literal) || ((Literal) cast.child()).value() == null) {
      return null;
    }
    String word = String.valueOf(((Literal) cast.child()).value()).trim().toLowerCase(java.util.Locale.ROOT);
    if (!SPECIAL_WORDS.contains(word)) {
      return null;
    }
    ZoneId zone = zone(cast);
    LocalDateTime now = LocalDateTime.ofInstant(wordInstant(), zone);
    LocalDate day = now.toLocalDate().plusDays(word.equals("tomorrow") ? 1 : word.equals("yesterday") ? -1 : 0);
    if (type.equals("date")) {
      return Integer.valueOf((int) day.toEpochDay());
    }
    LocalDateTime time = word.equals("now") ? now : day.atStartOfDay();
    return type.equals("timestamp")
        ? Long.valueOf(ChronoUnit.MICROS.between(Instant.EPOCH, time.atZone(zone).toInstant()))
        : Long.valueOf(microsOf(time));
  }

  private Object settingOf(Expression expression) throws Exception {
    String name = expression.getClass().getSimpleName();
    if (name.equals("CurrentTimeZone")) {
      return UTF8String.fromString(sessionZone());
    }
    if (name.equals("VariableReference")) {
      return Reflection.call(Reflection.call(expression, "varDef"), "currentValue");
    }
    if (!OF_SESSION.contains(name)) {
      return null;
    }
    Object catalogs = Reflection.call(Reflection.call(session, "sessionState"), "catalogManager");
    if (name.equals("CurrentCatalog")) {
      Object catalog = Reflection.call(catalogs, "currentCatalog");
      return UTF8String.fromString((String) Reflection.call(catalog, "name"));
    }
    if (name.equals("CurrentUser")) {
      Class users = Class.forName("org.apache.spark.sql.catalyst.CurrentUserContext");
      return UTF8String.fromString((String) users.getMethod("getCurrentUser", new Class[0]).invoke(null, new Object[0]));
    }
    String[] namespace = (String[]) Reflection.call(catalogs, "currentNamespace");
    StringBuilder quoted = new StringBuilder();
    for (int i = 0; i < namespace.length; i++) {
      boolean plain = namespace[i].matches("[a-zA-Z0-9_]*[a-zA-Z_][a-zA-Z0-9_]*");
      String part = plain ? namespace[i] : "`" + namespace[i].replace("`", "``") + "`";
      quoted.append(i == 0 ? "" : ".").append(part);
    }
    return UTF8String.fromString(quoted.toString());
  }

  /** Replaces what the query took from its surroundings by literals. */
  private static final class Fixing extends scala.runtime.AbstractPartialFunction {
    private final QueryContext context;

    public Fixing(QueryContext context) {
      this.context = context;
    }

    public boolean isDefinedAt(Object expression) {
      return true;
    }

    public Object applyOrElse(Object node, scala.Function1 otherwise) {
      Expression expression = (Expression) node;
      try {
        Object value = context.valueOf(expression);
        context.usesTime = context.usesTime || value != null;
        value = value == null ? context.settingOf(expression) : value;
        if (value instanceof Literal) {
          return value;
        }
        return value == null ? expression : new Literal(value, expression.dataType());
      } catch (Exception unknown) { // it stays, and the query takes the value of another day
        return expression;
      }
    }
  }

  /** Looks for a timestamp of the moment when the query was optimized. */
  private static final class TimeSearch extends scala.runtime.AbstractPartialFunction {
    private final long first;
    private final long last;
    private final ZoneId zone;
    private Long earliest;
    private Long latest;

    public TimeSearch(long first, long last, ZoneId zone) {
      this.first = first;
      this.last = last;
      this.zone = zone;
    }

    public boolean isDefinedAt(Object expression) {
      return true;
    }

    public Object applyOrElse(Object expression, scala.Function1 otherwise) {
      if (expression instanceof Literal && ((Literal) expression).value() instanceof Long) {
        long value = ((Long) ((Literal) expression).value()).longValue();
        String type = ((Literal) expression).dataType().catalogString();
        if (type.equals("timestamp_ntz")) {
          Instant local = Instant.EPOCH.plus(value, ChronoUnit.MICROS);
          LocalDateTime time = LocalDateTime.ofInstant(local, ZoneOffset.UTC);
          value = ChronoUnit.MICROS.between(Instant.EPOCH, time.atZone(zone).toInstant());
        }
        if (type.startsWith("timestamp") && first <= value && value <= last) {
          earliest = earliest == null || value < earliest.longValue() ? Long.valueOf(value) : earliest;
          latest = latest == null || value > latest.longValue() ? Long.valueOf(value) : latest;
        }
      }
      return expression;
    }
  }
}
