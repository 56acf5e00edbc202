package headwater;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.ObjectStreamClass;
import java.io.OutputStream;
import java.lang.reflect.Constructor;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.zip.DeflaterOutputStream;
import java.util.zip.InflaterInputStream;

import org.apache.spark.api.python.PythonFunction;
import org.apache.spark.sql.catalyst.trees.TreeNode;

/**
 * A plan as bytes: a compressed Java stream of its parts. A Python function is stored without its surroundings
 * (environment variables, which may contain secrets, the interpreter, the accumulator of its session); a reader adds
 * its own.
 */
public final class PlanStream {
  /** The plan is too large to be stored. */
  public static final class TooLarge extends IOException {
    public TooLarge(String message) {
      super(message);
    }
  }

  private final byte[] bytes;
  private final List functions = new ArrayList(); // in the order of the stream
  private final Set names = new LinkedHashSet();

  public PlanStream(Object plan, Integer maxBytes) throws IOException {
    ByteArrayOutputStream collected = new ByteArrayOutputStream(1 << 14);
    ObjectOutputStream out = new Writer(new Bounded(new DeflaterOutputStream(collected), maxBytes.intValue()), this);
    out.writeObject(plan);
    out.close();
    bytes = collected.toByteArray();
  }

  public String text() {
    return Base64.getEncoder().encodeToString(bytes);
  }

  public String digest() throws Exception {
    return digest(bytes);
  }

  /** The names of the Python functions in it. */
  public List pythonNames() {
    return new ArrayList(names);
  }

  public List functions() {
    return functions;
  }

  public static byte[] decode(String text) {
    return Base64.getDecoder().decode(text);
  }

  public static String digest(byte[] bytes) throws Exception {
    StringBuilder hex = new StringBuilder("sha256:");
    byte[] digest = MessageDigest.getInstance("SHA-256").digest(bytes);
    for (int i = 0; i < digest.length; i++) {
      hex.append(String.format("%02x", new Object[] {Byte.valueOf(digest[i])}));
    }
    return hex.toString();
  }

  public byte[] bytes() {
    return bytes;
  }

  /** Deserializes what the filter allows. Each Python function gets the surroundings of the next of the given ones; the
   *  last one serves all that follow. */
  public static Object read(byte[] bytes, PlanFilter filter, List functions) throws Exception {
    ObjectInputStream in = new Reader(new InflaterInputStream(new ByteArrayInputStream(bytes)), filter, functions);
    in.setObjectInputFilter(filter);
    return in.readObject();
  }

  private static final class Bounded extends FilterOutputStream {
    private long left;

    public Bounded(OutputStream out, int maxBytes) {
      super(out);
      left = maxBytes;
    }

    public void write(int one) throws IOException {
      take(1);
      out.write(one);
    }

    public void write(byte[] some, int from, int count) throws IOException {
      take(count);
      out.write(some, from, count);
    }

    private void take(int count) throws IOException {
      left -= count;
      if (left < 0) {
        throw new TooLarge("the plan takes more bytes than are stored");
      }
    }
  }

  private static final class Writer extends ObjectOutputStream {
    private final PlanStream stream;

    public Writer(OutputStream out, PlanStream stream) throws IOException {
      super(out);
      this.stream = stream;
      enableReplaceObject(true);
    }

    protected Object replaceObject(Object object) throws IOException {
      if (object instanceof PythonFunction) {
        stream.functions.add(object);
        return withSurroundings((PythonFunction) object, null);
      }
      if (!(object instanceof TreeNode)) {
        return object;
      }
      if (object.getClass().getSimpleName().startsWith("PythonUD")) {
        stream.names.add(String.valueOf(((scala.Product) object).productElement(0)));
      }
      return Part.of((TreeNode) object);
    }
  }

  private static final class Reader extends ObjectInputStream {
    private final List functions;
    private final PlanFilter filter;
    private final Map constructors = new HashMap();
    private int next = 0;

    public Reader(InflaterInputStream in, PlanFilter filter, List functions) throws IOException {
      super(in);
      this.filter = filter;
      this.functions = functions;
      enableResolveObject(true);
    }

    protected Class resolveClass(ObjectStreamClass described) throws IOException, ClassNotFoundException {
      return Class.forName(described.getName(), false, Part.class.getClassLoader());
    }

    protected Object resolveObject(Object object) throws IOException {
      if (object instanceof Part) {
        return filter.acceptBuilt(((Part) object).node(constructors));
      }
      if (!(object instanceof PythonFunction) || functions.isEmpty()) {
        return object;
      }
      Object surroundings = functions.get(Math.min(next, functions.size() - 1));
      next += 1;
      return withSurroundings((PythonFunction) object, (PythonFunction) surroundings);
    }
  }

  /** The same code with other surroundings, or with none. */
  private static Object withSurroundings(PythonFunction code, PythonFunction other) throws IOException {
    Constructor[] constructors = code.getClass().getConstructors();
    Constructor constructor = constructors[0].getParameterTypes()[0].isArray() ? constructors[1] : constructors[0];
    scala.Product source = other == null ? null : (scala.Product) other;
    Object[] parts = new Object[constructor.getParameterTypes().length];
    parts[0] = ((scala.Product) code).productElement(0);
    for (int i = 1; i < parts.length; i++) {
      Class kind = constructor.getParameterTypes()[i];
      if (source != null) {
        parts[i] = source.productElement(i);
      } else if (kind == String.class) {
        parts[i] = "";
      } else if (kind == List.class) {
        parts[i] = new ArrayList();
      }
    }
    try {
      return constructor.newInstance(parts);
    } catch (Exception unknown) {
      throw new IOException("a Python function of an unknown class: " + code.getClass().getName());
    }
  }
}
