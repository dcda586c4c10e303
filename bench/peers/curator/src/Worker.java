import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;

/** A worker of the comparison in Java, for any lock. Jobs: see bench/compare/job.h. */
public final class Worker {
  /** A lock on one monitor. */
  public interface Mutex extends AutoCloseable {
    void acquire() throws Exception;

    void release() throws Exception;

    /** Without asynchronous calls each section that is under way takes a thread. */
    default boolean isAsynchronous() {
      return false;
    }

    default CompletableFuture<?> acquireAsync() {
      throw new UnsupportedOperationException();
    }

    default CompletableFuture<?> releaseAsync() {
      throw new UnsupportedOperationException();
    }

    @Override
    default void close() {}
  }

  private static final ObjectMapper MAPPER = new ObjectMapper();
  private static final int MAX_SAMPLES = 20_000;

  private record Section(long waitNanos, long cycleNanos) {}

  /** Serves jobs until the input ends. */
  public static void serve(Function<String, Mutex> mutexes) throws Exception {
    System.out.println("{\"ready\":true}");
    BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
    for (String line = input.readLine(); line != null; line = input.readLine()) {
      System.out.println(run(mutexes, MAPPER.readTree(line)));
    }
  }

  private static String run(Function<String, Mutex> mutexes, JsonNode job) throws Exception {
    int threadCount = job.path("threads").asInt(1);
    long sections = job.path("sections").asLong(0) > 0 ? job.path("sections").asLong() : Long.MAX_VALUE;
    long begin = System.nanoTime();
    long limit = job.path("seconds").asDouble(0) > 0 ? (long) (job.path("seconds").asDouble() * 1e9) : Long.MAX_VALUE;
    AtomicLong next = new AtomicLong();
    List<Section> results = new ArrayList<>();
    List<Exception> failures = new ArrayList<>();
    List<Thread> threads = new ArrayList<>();
    List<CompletableFuture<Void>> lines = new ArrayList<>();
    boolean asynchronous = job.path("async").asBoolean(false) && isAsynchronous(mutexes);
    for (JsonNode monitor : asynchronous ? job.path("monitors") : MAPPER.createArrayNode()) {
      lines.add(sections(mutexes, job, monitor.asText(), next, begin, limit, results));
    }
    for (CompletableFuture<Void> line : lines) {
      line.get();
    }
    for (int i = 0; i < (asynchronous ? 0 : threadCount); i++) {
      String monitor = job.path("monitors").get(i % job.path("monitors").size()).asText();
      Thread thread = new Thread(() -> {
        List<Section> own = new ArrayList<>();
        try {
          work(mutexes, job, monitor, next, sections, begin, limit, own);
        } catch (Exception problem) {
          synchronized (results) {
            failures.add(problem);
          }
        }
        synchronized (results) {
          results.addAll(own);
        }
      });
      threads.add(thread);
      thread.start();
    }
    for (Thread thread : threads) {
      thread.join();
    }
    if (!failures.isEmpty()) {
      throw failures.get(0);
    }
    ObjectNode answer = MAPPER.createObjectNode();
    answer.put("sections", results.size());
    answer.put("seconds", (System.nanoTime() - begin) / 1e9);
    ArrayNode waits = answer.putArray("wait_us");
    ArrayNode cycles = answer.putArray("cycle_us");
    int step = Math.max(1, results.size() / MAX_SAMPLES);
    for (int i = 0; i < results.size(); i += step) {
      waits.add(results.get(i).waitNanos() / 1e3);
      cycles.add(results.get(i).cycleNanos() / 1e3);
    }
    return MAPPER.writeValueAsString(answer);
  }

  private static boolean isAsynchronous(Function<String, Mutex> mutexes) {
    try (Mutex lock = mutexes.apply("asynchronous")) {
      return lock.isAsynchronous();
    } catch (Exception problem) {
      throw new IllegalStateException(problem);
    }
  }

  private static void work(Function<String, Mutex> mutexes, JsonNode job, String monitor, AtomicLong next,
      long sections, long begin, long limit, List<Section> own) throws Exception {
    boolean fresh = job.path("fresh").asBoolean(false);
    long hold = job.path("hold_us").asLong(0) * 1000;
    double pause = job.path("pause_us").asDouble(0) * 1000;
    Mutex lock = fresh ? null : mutexes.apply(monitor);
    for (long number = next.getAndIncrement(); number < sections && System.nanoTime() - begin < limit;
        number = next.getAndIncrement()) {
      if (pause > 0) {
        passTime((long) (-pause * Math.log(1 - ThreadLocalRandom.current().nextDouble())));
      }
      if (fresh) {
        lock = mutexes.apply(monitor + "-" + number);
      }
      long asked = System.nanoTime();
      lock.acquire();
      long held = System.nanoTime();
      if (hold > 0) {
        passTime(hold);
      }
      long done = System.nanoTime();
      lock.release();
      own.add(new Section(held - asked, held - asked + System.nanoTime() - done));
      if (fresh) {
        lock.close();
      }
    }
    if (!fresh) {
      lock.close();
    }
  }

  /** Sections of one monitor after the other without a thread of their own; the others' go on meanwhile. */
  private static CompletableFuture<Void> sections(Function<String, Mutex> mutexes, JsonNode job, String monitor,
      AtomicLong next, long begin, long limit, List<Section> results) {
    CompletableFuture<Void> all = new CompletableFuture<>();
    boolean fresh = job.path("fresh").asBoolean(false);
    Mutex known = fresh ? null : mutexes.apply(monitor);
    new Runnable() {
      @Override
      public void run() {
        long asked = System.nanoTime();
        if (asked - begin >= limit) {
          if (known != null) {
            known.close();
          }
          all.complete(null);
          return;
        }
        Mutex lock = fresh ? mutexes.apply(monitor + "-" + next.getAndIncrement()) : known;
        lock.acquireAsync().thenCompose(obtained -> {
          long held = System.nanoTime();
          return lock.releaseAsync().thenRun(() -> {
            synchronized (results) {
              results.add(new Section(held - asked, System.nanoTime() - asked));
            }
            if (fresh) {
              lock.close();
            }
            run();
          });
        }).exceptionally(problem -> {
          all.completeExceptionally(problem);
          return null;
        });
      }
    }.run();
    return all;
  }

  private static void passTime(long nanos) {
    long end = System.nanoTime() + nanos;
    if (nanos > 200_000) {
      LockSupport.parkNanos(nanos - 200_000);
    }
    while (System.nanoTime() < end) {
      Thread.onSpinWait();
    }
  }
}
