package headwater;

import java.io.ObjectInputFilter;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;

import org.apache.spark.sql.catalyst.trees.TreeNode;

/**
 * The deserialization filter for stored plans. A Java stream can create objects of any class, so only the classes of a
 * plan pass: `Part`, the types and small values of `PlanClasses`, and by name the few Java and Scala classes that
 * contain these. Functions never pass: a lambda is code of the sender. A filter is for one stream, and says what it
 * refused.
 */
public final class PlanFilter implements ObjectInputFilter {
  private static final long MAX_BYTES = 64L << 20;
  private static final long MAX_OBJECTS = 5000000L;
  private static final long MAX_DEPTH = 100000L;
  private static final long MAX_ARRAY_LENGTH = 16L << 20;

  private static final String SPARK = "org.apache.spark.";
  private static final String SCALA = "scala.collection.";

  private static final Set ALLOWED_NAMES = new HashSet(Arrays.asList(new Object[] {
    "headwater.Part", "java.lang.Boolean", "java.lang.Byte", "java.lang.Character",
    "java.lang.Double", "java.lang.Enum", "java.lang.Float", "java.lang.Integer", "java.lang.Long", "java.lang.Number",
    "java.lang.Object", "java.lang.Short", "java.lang.String", "java.math.BigDecimal", "java.math.BigInteger",
    "java.math.MathContext", "java.math.RoundingMode", "java.time.Ser", "java.util.ArrayList", "java.util.UUID",
    "java.util.concurrent.atomic.AtomicReference",
    "scala.Enumeration", "scala.Enumeration$Val", "scala.Enumeration$Value", "scala.None$", "scala.Option",
    "scala.Some", "scala.Tuple2", "scala.math.BigDecimal", "scala.math.BigInt", "scala.math.ScalaNumber",
    "scala.runtime.ModuleSerializationProxy",
    // Collections, of Scala 2.12 and 2.13. Lazy ones are not among them: they call a function when they are read.
    SCALA + "IterableFactory$ToFactory", SCALA + "MapFactory$ToFactory", SCALA + "generic.DefaultSerializationProxy",
    SCALA + "generic.SerializeEnd$", SCALA + "immutable.$colon$colon", SCALA + "immutable.ArraySeq",
    SCALA + "immutable.ArraySeq$", SCALA + "immutable.ArraySeq$ofByte", SCALA + "immutable.ArraySeq$ofInt",
    SCALA + "immutable.ArraySeq$ofRef", SCALA + "immutable.HashMap", SCALA + "immutable.HashMap$",
    SCALA + "immutable.HashMap$EmptyHashMap$", SCALA + "immutable.HashMap$HashMap1",
    SCALA + "immutable.HashMap$HashMapCollision1", SCALA + "immutable.HashMap$HashTrieMap",
    SCALA + "immutable.HashMap$SerializationProxy", SCALA + "immutable.HashSet", SCALA + "immutable.HashSet$",
    SCALA + "immutable.HashSet$EmptyHashSet$", SCALA + "immutable.HashSet$HashSet1",
    SCALA + "immutable.HashSet$HashSetCollision1", SCALA + "immutable.HashSet$HashTrieSet",
    SCALA + "immutable.HashSet$SerializationProxy", SCALA + "immutable.List", SCALA + "immutable.List$",
    SCALA + "immutable.List$SerializationProxy", SCALA + "immutable.ListSerializeEnd$", SCALA + "immutable.Map$",
    SCALA + "immutable.Map$EmptyMap$", SCALA + "immutable.Map$Map1", SCALA + "immutable.Map$Map2",
    SCALA + "immutable.Map$Map3", SCALA + "immutable.Map$Map4", SCALA + "immutable.Nil$", SCALA + "immutable.Seq$",
    SCALA + "immutable.Set$", SCALA + "immutable.Set$EmptySet$", SCALA + "immutable.Set$Set1",
    SCALA + "immutable.Set$Set2", SCALA + "immutable.Set$Set3", SCALA + "immutable.Set$Set4",
    SCALA + "immutable.Vector", SCALA + "immutable.Vector$", SCALA + "immutable.Vector0$", SCALA + "immutable.Vector1",
    SCALA + "immutable.Vector2", SCALA + "immutable.Vector3",
    SCALA + "mutable.ArrayBuffer", SCALA + "mutable.ArrayBuffer$", SCALA + "mutable.ArraySeq",
    SCALA + "mutable.ArraySeq$", SCALA + "mutable.ArraySeq$ofByte", SCALA + "mutable.ArraySeq$ofRef",
    SCALA + "mutable.HashMap",
    SCALA + "mutable.ListBuffer", SCALA + "mutable.ListBuffer$", SCALA + "mutable.WrappedArray",
    SCALA + "mutable.WrappedArray$ofByte", SCALA + "mutable.WrappedArray$ofRef",
    // The values of literals and rows.
    SPARK + "sql.catalyst.InternalRow", SPARK + "sql.catalyst.expressions.BaseGenericInternalRow",
    SPARK + "sql.catalyst.expressions.GenericInternalRow", SPARK + "sql.catalyst.expressions.UnsafeRow",
    SPARK + "sql.catalyst.expressions.UnsafeArrayData", SPARK + "sql.catalyst.expressions.UnsafeMapData",
    SPARK + "sql.catalyst.util.ArrayBasedMapData", SPARK + "sql.catalyst.util.ArrayData",
    SPARK + "sql.catalyst.util.GenericArrayData", SPARK + "sql.catalyst.util.MapData", SPARK + "sql.types.Decimal",
    SPARK + "sql.types.Metadata", SPARK + "unsafe.types.CalendarInterval", SPARK + "unsafe.types.UTF8String",
    SPARK + "unsafe.types.VariantVal"}));

  private static final String PYTHON = SPARK + "api.python.SimplePythonFunction";

  private final boolean python;
  private String refusalReason;
  private Class builtClass;

  public PlanFilter(Boolean python) {
    this.python = python.booleanValue();
  }

  /** Why the stream was refused, or null. */
  public String refusalReason() {
    return refusalReason;
  }

  /** Java also asks about the node that was built from a part: its part has passed already. */
  public Object acceptBuilt(Object node) {
    builtClass = node.getClass();
    return node;
  }

  public Status checkInput(FilterInfo info) {
    if (info.streamBytes() > MAX_BYTES || info.references() > MAX_OBJECTS || info.depth() > MAX_DEPTH
        || info.arrayLength() > MAX_ARRAY_LENGTH) {
      refusalReason = "it is larger than a plan may be";
      return Status.REJECTED;
    }
    Class kind = info.serialClass();
    if (kind == null) {
      return Status.UNDECIDED; // a check of the limits alone
    }
    boolean array = kind.isArray();
    while (kind.isArray()) {
      kind = kind.getComponentType();
    }
    boolean built = kind == builtClass;
    builtClass = null;
    if (built || array && TreeNode.class.isAssignableFrom(kind) || isAllowed(kind)) { // such an array contains parts
      return Status.ALLOWED;
    }
    refusalReason = "it holds " + kind.getName();
    return Status.REJECTED;
  }

  private boolean isAllowed(Class kind) {
    String name = kind.getName();
    if (kind.isPrimitive() || ALLOWED_NAMES.contains(name)) {
      return true;
    }
    if (name.equals(PYTHON)) {
      return python;
    }
    return PlanClasses.isValue(kind);
  }
}
