package headwater;

/** Runs on a thread with a large stack: Java serializes trees by recursion, and a plan can be a deep tree. */
public final class DeepStack {
  private DeepStack() {}

  public static void run(Runnable work, long stack) throws InterruptedException {
    Thread thread = new Thread(null, work, "headwater-plans", stack);
    thread.setDaemon(true);
    thread.start();
    thread.join();
  }
}
