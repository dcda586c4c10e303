import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.Future;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * Sends a record for each key with Kafka's own client as it is by default, and prints the partitions that it chose, one
 * a line. Arguments: bootstrap servers, topic, a file with one key a line in base64.
 */
public class PartitionOracle {
  public static void main(String[] arguments) throws Exception {
    Properties settings = new Properties();
    settings.put("bootstrap.servers", arguments[0]);
    List<Future<RecordMetadata>> sent = new ArrayList<>();
    try (var producer = new KafkaProducer<byte[], byte[]>(
        settings, new ByteArraySerializer(), new ByteArraySerializer())) {
      for (String line : Files.readAllLines(Path.of(arguments[2]))) {
        byte[] key = Base64.getDecoder().decode(line);
        sent.add(producer.send(new ProducerRecord<>(arguments[1], key, new byte[0])));
      }
    }
    for (Future<RecordMetadata> each : sent) {
      System.out.println(each.get().partition());
    }
  }
}
