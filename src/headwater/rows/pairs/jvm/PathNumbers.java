package headwater;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import com.fasterxml.jackson.databind.ObjectMapper;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.XxHash64;
import org.apache.spark.sql.types.StringType$;
import org.apache.spark.unsafe.types.UTF8String;

/** The numbers that stand for files (NumericIds.java). */
public final class PathNumbers {
  private static final long SEED = 42L;

  public PathNumbers() {}

  /** Paths by number, as text: many JSON readers do not support 64-bit numbers. */
  public String numbered(List paths) throws Exception {
    Map pathByNumber = new LinkedHashMap();
    for (int i = 0; i < paths.size(); i++) {
      String path = (String) paths.get(i);
      Literal text = new Literal(UTF8String.fromString(path), StringType$.MODULE$);
      XxHash64 hash = new XxHash64(Trees.seq(new ArrayList(Arrays.asList(new Object[] {text}))), SEED);
      Object previous = pathByNumber.put(String.valueOf(hash.eval(null)), path);
      if (previous != null && !previous.equals(path)) {
        throw new IllegalStateException(previous + " and " + path + " have the same hash");
      }
    }
    return new ObjectMapper().writeValueAsString(pathByNumber);
  }
}
