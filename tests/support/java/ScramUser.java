import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ScramCredentialInfo;
import org.apache.kafka.clients.admin.ScramMechanism;
import org.apache.kafka.clients.admin.UserScramCredentialUpsertion;

/** ScramUser BROKER USER PASSWORD: gives a user of a broker a password for SCRAM-SHA-512. */
public final class ScramUser {
  private ScramUser() {}

  public static void main(String[] arguments) throws Exception {
    try (Admin admin = Admin.create(Map.of("bootstrap.servers", arguments[0]))) {
      admin.alterUserScramCredentials(List.of(new UserScramCredentialUpsertion(arguments[1],
          new ScramCredentialInfo(ScramMechanism.SCRAM_SHA_512, 4096), arguments[2]))).all().get();
    }
  }
}
