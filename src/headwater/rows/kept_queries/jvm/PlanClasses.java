package headwater;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;

import org.apache.spark.sql.catalyst.FunctionIdentifier;
import org.apache.spark.sql.catalyst.analysis.FunctionRegistry$;
import org.apache.spark.sql.catalyst.expressions.ExpressionInfo;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.UserDefinedType;

/**
 * The classes that a stored plan may consist of, checked on writing and on reading: operators and expressions by their
 * exact names, the functions that Spark itself registers, and small values in their constructors. Anything else is
 * refused. In particular nothing is listed that calls a method, creates an object or sets a property by name, that
 * contains an encoder, a serializer or a lambda, or that starts a program.
 */
public final class PlanClasses {
  private static final String CATALYST = "org.apache.spark.sql.catalyst.";
  private static final String EXPRESSIONS = CATALYST + "expressions.";

  /** Spark's functions with access beyond the rows of a query: to methods of the JVM, and to files of an option. */
  private static final Set REFUSED_EXPRESSIONS = names(EXPRESSIONS, new String[] {
    "CallMethodViaReflection", "TryReflect", "FromAvro", "ToAvro", "SchemaOfAvro", "FromProtobuf", "ToProtobuf",
    "XmlToStructs", "SchemaOfXml"});

  /** The operators that the table of headwater/plan/operator_traits.py calls storable. */
  private static final Set OPERATORS = names(CATALYST + "plans.logical.", "@STORABLE_OPERATORS@".split(" "));

  private static final Set OTHER_EXPRESSIONS = names(EXPRESSIONS, new String[] {
    "Add", "Alias", "And", "ArrayTransform", "AtLeastNNonNulls", "AttributeReference", "BitwiseAnd", "BitwiseNot",
    "BitwiseOr", "BitwiseXor", "CaseWhen", "Cast", "CheckOverflow", "CheckOverflowInSum", "CheckOverflowInTableInsert",
    "Collate", "Collation", "CommonExpressionDef", "CommonExpressionRef", "Concat", "CurrentDate", "CurrentRow$",
    "CurrentTimestamp", "DateAdd", "DateAddInterval", "DateAddYMInterval", "DateSub", "DatetimeSub", "Divide",
    "DivideDTInterval", "DivideInterval", "DivideYMInterval", "EqualNullSafe", "EqualTo", "Exists",
    "ExtractANSIIntervalDays",
    "GeneratorOuter", "GetArrayItem", "GetArrayStructFields", "GetMapValue", "GetStructField", "GetTimestamp",
    "GreaterThan", "GreaterThanOrEqual", "Grouping", "GroupingID", "If", "In", "InSet", "InSubquery",
    "IntegralDivide", "IsNaN", "IsNotNull", "IsNull", "JsonToStructs", "KnownFloatingPointNormalized", "KnownNotNull",
    "KnownNullable", "KnownNotContainsNull", "LambdaFunction", "LateralSubquery", "LessThan", "LessThanOrEqual", "Like",
    "LikeAll", "LikeAny", "ListQuery", "Literal", "MakeDecimal", "MultiplyDTInterval", "MultiplyInterval",
    "MultiplyYMInterval", "Multiply", "NamedLambdaVariable", "NormalizeNaNAndZero", "Not", "NotLikeAll", "NotLikeAny",
    "Or", "OuterReference", "PreciseTimestampConversion", "PromotePrecision", "PythonUDAF", "PythonUDF", "PythonUDTF",
    "RLike", "Remainder", "ResolvedCollation", "ScalarSubquery", "SortOrder", "SpecifiedWindowFrame", "SubtractDates",
    "SubtractTimestamps", "SubtractTimes", "Subtract", "TempResolvedColumn", "TimeAdd", "TimestampAddInterval",
    "TimestampAddYMInterval", "TimestampAdd", "TimestampDiff", "ToPrettyString", "UnaryMinus", "UnaryPositive",
    "UnboundedFollowing$", "UnboundedPreceding$", "UnscaledValue", "UnspecifiedFrame$", "UpCast", "WindowExpression",
    "WindowSpecDefinition", "With", "aggregate.AggregateExpression", "aggregate.PivotFirst",
    "aggregate.Average", "aggregate.Sum", "aggregate.TrySum",
    // expressions that function builders create in addition to the one that they are named after
    "BinaryPad", "BinaryPredicate", "DatePart", "Extract", "HoursOfTime", "MakeTimestampFromDateTime", "MinutesOfTime",
    "RoundCeil", "RoundFloor", "SecondsOfTime", "SecondsOfTimeWithFraction", "StringLPad", "StringRPad"});

  private static final Set BUILT_IN = builtIn();

  /** Nodes whose texts are names of columns and functions, which never become part of generated Java code. */
  private static final Set NODES_WITH_NAMES = names(EXPRESSIONS, new String[] {
    "Alias", "AttributeReference", "GetStructField", "NamedLambdaVariable", "PythonUDAF", "PythonUDF", "PythonUDTF"});

  /** Other texts in expressions are units, zones and formats; some become part of generated Java code unquoted. */
  private static final Pattern HARMLESS_TEXT = Pattern.compile("[A-Za-z0-9_ :+./,-]*");

  private static final Set SMALL_VALUES = values();

  private PlanClasses() {}

  /** Whether an operator or an expression may be part of a stored plan. */
  public static boolean isNode(Class kind) {
    String name = kind.getName();
    return !REFUSED_EXPRESSIONS.contains(name)
        && (OPERATORS.contains(name) || OTHER_EXPRESSIONS.contains(name) || BUILT_IN.contains(name));
  }

  /** Whether a text may be an argument of a node, directly or within an Option. */
  public static boolean isArgument(Class kind, Object argument) {
    Object text = argument instanceof scala.Some ? ((scala.Some) argument).get() : argument;
    String name = kind.getName();
    return !(text instanceof String) || OPERATORS.contains(name) || NODES_WITH_NAMES.contains(name)
        || HARMLESS_TEXT.matcher((String) text).matches();
  }

  /** Whether a small value of Catalyst, or a type, may be part of a stored plan. */
  public static boolean isValue(Class kind) {
    String name = kind.getName();
    if (DataType.class.isAssignableFrom(kind)) { // no types that name other classes
      return name.startsWith("org.apache.spark.sql.types.") && !UserDefinedType.class.isAssignableFrom(kind)
          && !name.startsWith("org.apache.spark.sql.types.ObjectType");
    }
    return SMALL_VALUES.contains(name);
  }

  private static Set builtIn() {
    Set classNames = new HashSet();
    List functions = Trees.list(FunctionRegistry$.MODULE$.builtin().listFunction());
    for (int i = 0; i < functions.size(); i++) {
      scala.Option info = FunctionRegistry$.MODULE$.builtin().lookupFunction((FunctionIdentifier) functions.get(i));
      String name = info.isDefined() ? ((ExpressionInfo) info.get()).getClassName() : "";
      if (name.startsWith(EXPRESSIONS)) { // some are registered by a builder, named after its expression
        classNames.add(name.replaceAll("(Expression)?Builder$", ""));
      }
    }
    return classNames;
  }

  private static Set values() {
    Set classNames = names(CATALYST, new String[] {
      "AliasIdentifier", "FunctionIdentifier", "TableIdentifier", "expressions.Ascending$", "expressions.Descending$",
      "expressions.EvalMode$", "expressions.ExprId", "expressions.FrameType", "expressions.NullsFirst$",
      "expressions.NullsLast$", "expressions.NumericEvalContext", "expressions.RangeFrame$", "expressions.RowFrame$",
      "expressions.CurrentRow$", "expressions.UnboundedFollowing$", "expressions.UnboundedPreceding$",
      "expressions.UnspecifiedFrame$", "expressions.aggregate.Complete$", "expressions.aggregate.Final$",
      "expressions.aggregate.Partial$", "expressions.aggregate.PartialMerge$", "plans.Cross$", "plans.ExistenceJoin",
      "plans.FullOuter$", "plans.Inner$", "plans.JoinType", "plans.InnerLike", "plans.LeftAnti$",
      "plans.LeftExistence", "plans.LeftOuter$", "plans.LeftSemi$", "plans.LeftSingle$", "plans.RightOuter$",
      "plans.logical.BROADCAST$", "plans.logical.HintInfo", "plans.logical.JoinHint",
      "plans.logical.JoinStrategyHint", "plans.logical.NO_BROADCAST_AND_REPLICATION$",
      "plans.logical.NO_BROADCAST_HASH$", "plans.logical.PREFER_SHUFFLE_HASH$", "plans.logical.SHUFFLE_HASH$",
      "plans.logical.SHUFFLE_MERGE$", "plans.logical.SHUFFLE_REPLICATE_NL$", "plans.logical.SampleMethod",
      "plans.logical.SampleMethod$Bernoulli$", "plans.logical.SampleMethod$System$"});
    classNames.addAll(names("org.apache.spark.sql.types.", new String[] {
      "FixedLength", "MaxLength", "Metadata", "Metadata$", "NoConstraint$", "StringConstraint", "StructField"}));
    return classNames;
  }

  private static Set names(String prefix, String[] names) {
    Set classNames = new HashSet();
    for (int i = 0; i < names.length; i++) {
      classNames.add(prefix + names[i]);
    }
    return classNames;
  }
}
