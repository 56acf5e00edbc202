package headwater;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;

import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DoubleType$;
import org.apache.spark.sql.types.FloatType$;
import org.apache.spark.sql.types.MapType;
import org.apache.spark.sql.types.NullType$;
import org.apache.spark.sql.types.StringType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.types.UserDefinedType;

/**
 * Two hashes of 64 bits of a row's values, as SQL, which is the same in every version of Spark. They are of the values
 * in Spark's own form, so that nothing is lost: a text would round microseconds, and Java's dates have no 10 October
 * 1582.
 *
 * Spark's hash passes over nulls, over where an array ends, and refuses maps and variants: these are spelled out here.
 * ``exact`` tells all values apart. Otherwise values that are equal in SQL have equal hashes, as 0.0 and -0.0, or
 * texts that are equal in their collation.
 */
public final class RowHash {
  public static final String VALUE = "{value}";
  private final boolean exact;
  private int lambdas;

  public RowHash(Boolean exact) {
    this.exact = exact.booleanValue();
  }

  /** The two hashes of these columns; a path is a column and the fields below it. */
  public List halves(StructType schema, List paths) {
    List parts = parts(schema, paths);
    return Arrays.asList(new Object[] {hash(0, parts), hash(1, parts)});
  }

  /** The two hashes as columns; null if Spark's own SQL has all of their functions. */
  public List columns(Object session, StructType schema, List paths) throws Exception {
    List halves = halves(schema, paths);
    if (!CollationKeys.isIn((String) halves.get(0))) {
      return null;
    }
    List columns = new ArrayList();
    for (int i = 0; i < halves.size(); i++) {
      columns.add(CollationKeys.column(session, (String) halves.get(i)));
    }
    return columns;
  }

  /** What is hashed of these columns. */
  public List parts(StructType schema, List paths) {
    List parts = new ArrayList();
    for (int i = 0; i < paths.size(); i++) {
      add((List) paths.get(i), schema, parts);
    }
    return parts;
  }

  private void add(List path, StructType schema, List parts) {
    DataType type = schema;
    StringBuilder value = new StringBuilder();
    for (int i = 0; i < path.size(); i++) {
      StructType struct = (StructType) type;
      type = struct.fields()[struct.fieldIndex((String) path.get(i))].dataType();
      value.append(i == 0 ? "" : ".").append(quoted((String) path.get(i)));
    }
    add(value.toString(), type, parts);
  }

  private static String hash(int seed, List parts) {
    return "xxhash64(" + seed + separated(parts, ", ") + ")";
  }

  private static String separated(List parts, String before) {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < parts.size(); i++) {
      text.append(before).append(parts.get(i));
    }
    return text.toString();
  }

  private void add(String value, DataType type, List parts) {
    parts.add("isnull(" + value + ")");
    if (type instanceof StructType) {
      struct(value, (StructType) type, parts);
    } else if (type instanceof ArrayType) {
      String element = variable();
      List inner = new ArrayList();
      add(element, ((ArrayType) type).elementType(), inner);
      parts.add("size(" + value + ")");
      parts.add("transform(" + value + ", " + element + " -> struct(" + separated(inner, ", ").substring(2) + "))");
    } else if (type instanceof MapType) {
      map(value, (MapType) type, parts);
    } else if (type instanceof UserDefinedType) {
      parts.add(value);
      parts.add("to_json(struct(" + value + "))");
    } else if (type != NullType$.MODULE$) {
      atom(value, type, parts);
    }
  }

  private void struct(String value, StructType type, List parts) {
    StructField[] fields = type.fields();
    boolean unique = hasUniqueNames(fields);
    String struct = value;
    if (!unique) { // a cast renames fields by their position
      List renamed = new ArrayList();
      for (int i = 0; i < fields.length; i++) {
        renamed.add("f" + i + ": " + fields[i].dataType().sql());
      }
      struct = "cast(" + value + " as struct<" + separated(renamed, ", ").substring(2) + ">)";
    }
    for (int i = 0; i < fields.length; i++) {
      add(struct + "." + (unique ? quoted(fields[i].name()) : "f" + i), fields[i].dataType(), parts);
    }
  }

  private static boolean hasUniqueNames(StructField[] fields) {
    Set names = new HashSet();
    for (int i = 0; i < fields.length; i++) {
      if (!names.add(fields[i].name().toLowerCase(Locale.ROOT))) {
        return false;
      }
    }
    return true;
  }

  /** The entries in the order of their hashes: maps are equal in any order. */
  private void map(String value, MapType type, List parts) {
    String entry = variable();
    List inner = new ArrayList();
    add(entry + ".key", type.keyType(), inner);
    add(entry + ".value", type.valueType(), inner);
    String hashes = "struct(" + hash(0, inner) + ", " + hash(1, inner) + ")";
    parts.add("size(" + value + ")");
    parts.add("array_sort(transform(map_entries(" + value + "), " + entry + " -> " + hashes + "))");
  }

  private void atom(String value, DataType type, List parts) {
    String name = type.catalogString().toLowerCase(Locale.ROOT);
    if (type instanceof StringType && name.indexOf("collate") >= 0) {
      parts.add(exact ? "cast(" + value + " as binary)" : CollationKeys.FUNCTION + "(" + value + ")");
    } else if (name.equals("variant")) { // its bytes may differ for one value
      parts.add("to_json(" + value + ")");
      parts.add("schema_of_variant(" + value + ")");
    } else if (name.startsWith("geometry") || name.startsWith("geography")) {
      parts.add("st_asbinary(" + value + ")");
      parts.add("st_srid(" + value + ")");
    } else {
      parts.add(value);
      if (exact && isFloating(type)) {
        parts.add("if(" + value + " = 0 and cast(" + value + " as string) = '-0.0', -1, null)");
      }
    }
  }

  private String variable() {
    return "__hw_x" + lambdas++;
  }

  public static boolean isFloating(DataType type) {
    return type == DoubleType$.MODULE$ || type == FloatType$.MODULE$;
  }

  public static String quoted(String name) {
    return "`" + name.replace("`", "``") + "`";
  }

  /** Whether Spark's equality and its DISTINCT tell all values of the type apart. */
  public static boolean comparesExactly(DataType type) {
    if (type instanceof StructType) {
      StructField[] fields = ((StructType) type).fields();
      for (int i = 0; i < fields.length; i++) {
        if (!comparesExactly(fields[i].dataType())) {
          return false;
        }
      }
      return true;
    }
    if (type instanceof ArrayType) {
      return comparesExactly(((ArrayType) type).elementType());
    }
    String name = type.catalogString().toLowerCase(Locale.ROOT);
    return !isFloating(type) && name.indexOf("collate") < 0 && isComparable(type);
  }

  /** Whether values of the type can be compared at all. */
  public static boolean isComparable(DataType type) {
    if (type instanceof StructType) {
      StructField[] fields = ((StructType) type).fields();
      for (int i = 0; i < fields.length; i++) {
        if (!isComparable(fields[i].dataType())) {
          return false;
        }
      }
      return true;
    }
    if (type instanceof ArrayType) {
      return isComparable(((ArrayType) type).elementType());
    }
    String name = type.catalogString().toLowerCase(Locale.ROOT);
    return !(type instanceof MapType || type instanceof UserDefinedType || name.equals("variant")
        || name.equals("interval") || name.startsWith("geo"));
  }

  /** The plan with the two hashes of some of its columns as further columns, whatever the columns are called. */
  public LogicalPlan addTo(Trees trees, LogicalPlan plan, List attributes, List names) throws Exception {
    return addTo(trees, plan, attributes, Collections.nCopies(attributes.size(), null), names);
  }

  /** ``texts``: SQL of what to hash instead of a column, which it names by VALUE; null for the column itself. */
  public LogicalPlan addTo(Trees trees, LogicalPlan plan, List attributes, List texts, List names) throws Exception {
    List all = Trees.list(plan.output());
    List paths = new ArrayList();
    List replaced = new ArrayList();
    for (int i = 0; i < attributes.size(); i++) {
      String value = texts.get(i) == null ? "__hw_x_" + i : "__hw_v_" + i;
      all.add(Trees.alias((Attribute) attributes.get(i), value));
      paths.add(Arrays.asList(new Object[] {"__hw_x_" + i}));
      if (texts.get(i) != null) {
        replaced.add(((String) texts.get(i)).replace(VALUE, quoted(value)) + " as `__hw_x_" + i + "`");
      }
    }
    LogicalPlan renamed = new Project(Trees.seq(all), plan);
    LogicalPlan hashable = replaced.isEmpty() ? renamed : trees.select(renamed, replaced);
    List hashes = halves(hashable.schema(), paths);
    List hashTexts = new ArrayList();
    for (int i = 0; i < hashes.size(); i++) {
      hashTexts.add(hashes.get(i) + " as " + quoted((String) names.get(i)));
    }
    LogicalPlan hashed = trees.select(hashable, hashTexts);
    List outputs = Trees.list(hashed.output());
    List kept = Trees.list(plan.output());
    kept.addAll(outputs.subList(outputs.size() - hashTexts.size(), outputs.size()));
    return new Project(Trees.seq(kept), hashed);
  }
}
