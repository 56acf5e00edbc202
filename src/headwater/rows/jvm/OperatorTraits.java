package headwater;

import java.io.IOException;
import java.util.List;
import java.util.Map;

import com.fasterxml.jackson.databind.ObjectMapper;

/** What operators do with rows: the table of headwater/plan/operator_traits.py, which explains each trait. */
public final class OperatorTraits {
  private static final Map NAMES = read("@OPERATOR_TRAITS@"); // the table as JSON, put here before compiling

  private OperatorTraits() {}

  private static Map read(String json) {
    try {
      return (Map) new ObjectMapper().readValue(json, Map.class);
    } catch (IOException error) {
      throw new IllegalStateException("the table of operators is not JSON: " + error.getMessage());
    }
  }

  /** The names of the operators that have a trait. */
  public static List operatorsWith(String trait) {
    List names = (List) NAMES.get(trait);
    if (names == null) {
      throw new IllegalArgumentException("no trait is called " + trait);
    }
    return names;
  }
}
