import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.forelock.ForelockClient;
import org.forelock.ForelockException;
import org.forelock.ZkBlockingWriteLock;

/**
 * Adds 1 to numbers of documents, by GET and PUT under a lock that it holds: ZOOKEEPER PREFERENCE. For each line
 * "NUMBER INDEX_URL DOCUMENT KEY" of its input it prints "NUMBER FOUND STATUS": what the document had, -1 if that is
 * not known, and the status of the write, 0 without one.
 */
final class Adding {
  private static final Duration SOON = Duration.ofSeconds(3);
  private final HttpClient http = HttpClient.newHttpClient();
  private final ForelockClient locks;

  private final String preference;

  private Adding(ForelockClient locks, String preference) {
    this.locks = locks;
    this.preference = preference;
  }

  public static void main(String[] arguments) throws Exception {
    ExecutorService threads = Executors.newCachedThreadPool();
    BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
    try (ForelockClient client = ForelockClient.builder().set("zookeeper.servers", arguments[0])
        .set("zookeeper.session.timeout", "4000").build()) {
      Adding adding = new Adding(client, arguments[1]);
      for (String line = input.readLine(); line != null; line = input.readLine()) {
        String[] words = line.split(" ");
        threads.execute(() -> {
          String result = adding.add(words[1], words[2], words[3]);
          synchronized (System.out) {
            System.out.println(words[0] + " " + result);
          }
        });
      }
      threads.shutdown();
      threads.awaitTermination(1, java.util.concurrent.TimeUnit.MINUTES);
    }
  }

  private static Pattern pattern(String key) {
    return Pattern.compile("\"" + key + "\"\\s*:\\s*(\\d+)");
  }

  /** @return -1: it is not there */
  private static long number(String json, String key) {
    Matcher number = pattern(key).matcher(json);
    return number.find() ? Long.parseLong(number.group(1)) : -1;
  }

  private String add(String index, String document, String key) {
    long found = -1;
    int status = 0;
    try (ZkBlockingWriteLock lock = new ZkBlockingWriteLock("Add", locks, document)) {
      lock.lock();
      HttpRequest read = HttpRequest.newBuilder(URI.create(index + "/_doc/" + document + preference))
          .timeout(SOON).build();
      HttpResponse<String> before = http.send(read, HttpResponse.BodyHandlers.ofString());
      if (before.statusCode() == 200) {
        String body = before.body();
        String source = body.substring(body.indexOf("\"_source\":") + 10, body.lastIndexOf('}'));
        found = Math.max(number(source, key), 0);
        String entry = "\"" + key + "\":" + (found + 1);
        String after = found > 0 ? pattern(key).matcher(source).replaceFirst(entry)
            : source.replaceFirst("\\{", source.contains(":") ? "{" + entry + "," : "{" + entry);
        String asRead = "?if_seq_no=" + number(body, "_seq_no") + "&if_primary_term=" + number(body, "_primary_term");
        HttpRequest write = HttpRequest.newBuilder(URI.create(index + "/_doc/" + document + asRead))
            .timeout(SOON.multipliedBy(3)).header("Content-Type", "application/json")
            .header("X-Forelock-Held", lock.heldHeader())
            .PUT(HttpRequest.BodyPublishers.ofString(after)).build();
        status = http.send(write, HttpResponse.BodyHandlers.ofString()).statusCode();
      }
    } catch (ForelockException | java.io.IOException | InterruptedException fault) {
      return found + " " + status;
    }
    return found + " " + status;
  }
}
