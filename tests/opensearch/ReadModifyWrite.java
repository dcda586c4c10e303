import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.forelock.ForelockClient;
import org.forelock.LockType;
import org.forelock.ZkBlockingWriteLock;

/** Adds 1 to a number of documents, by GET and PUT under a lock that it holds: ZOOKEEPER INDEX_URL DOCUMENTS TIMES. */
final class ReadModifyWrite {
  private static final Pattern NUMBER = Pattern.compile("\"n\":(\\d+)");

  public static void main(String[] arguments) throws Exception {
    int documents = Integer.parseInt(arguments[2]);
    int times = Integer.parseInt(arguments[3]);
    HttpClient http = HttpClient.newHttpClient();
    try (ForelockClient client = ForelockClient.builder().set("zookeeper.servers", arguments[0]).build()) {
      for (int i = 0; i < times; ++i) {
        String monitor = String.valueOf(i % documents);
        URI document = URI.create(arguments[1] + "/_doc/" + monitor);
        try (ZkBlockingWriteLock lock =
            new ZkBlockingWriteLock("Add", client, monitor, i % 2 == 0 ? LockType.FOREGROUND : LockType.BACKGROUND)) {
          lock.lock();
          HttpRequest read = HttpRequest.newBuilder(document).build();
          String found = http.send(read, HttpResponse.BodyHandlers.ofString()).body();
          Matcher number = NUMBER.matcher(found);
          if (!number.find()) {
            throw new IllegalStateException(found);
          }
          int next = Integer.parseInt(number.group(1)) + 1;
          HttpRequest write = HttpRequest.newBuilder(document)
              .header("Content-Type", "application/json").header("X-Forelock-Held", lock.heldHeader())
              .PUT(HttpRequest.BodyPublishers.ofString("{\"n\":" + next + "}")).build();
          HttpResponse<String> answer = http.send(write, HttpResponse.BodyHandlers.ofString());
          if (answer.statusCode() != 200) {
            throw new IllegalStateException(answer.body());
          }
        }
      }
    }
    System.out.println(times);
  }

  private ReadModifyWrite() {}
}
