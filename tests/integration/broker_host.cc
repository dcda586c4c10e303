// A Kafka broker for tests that are written in other languages: they start this program, read five lines from it, the
// address without security, the address with TLS and passwords, the name of its certificate's file, a user's name, the
// name of the file with the password, and ask on its standard input.
//
//   topic NAME            makes it; answered with "ok"
//   records NAME          answered with their number, and a line "KEY ID" for each
//   (end of input)        ends
#include "integration/dead_letters.h"
#include "integration/secure_broker.h"

int main() {
  using namespace forelock::test;
  SecureBroker secure;
  const std::string plain = secure.broker().bootstrap();
  std::cout << plain << '\n'
            << secure.broker().bootstrap("SASL_SSL") << '\n'
            << secure.file("broker.pem").string() << '\n'
            << "alice\n"
            << secure.secret_file("alice.password", std::string(SecureBroker::password) + "\n") << std::endl;
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    std::string command;
    std::string topic;
    words >> command >> topic;
    if (command == "topic") {
      make_topic(secure.broker(), topic);
      std::cout << "ok" << std::endl;
    } else if (command == "records") {
      const auto records = read_topic(plain, topic);
      std::cout << records.size() << '\n';
      for (const TopicRecord& record : records) std::cout << record.key << ' ' << record.id() << '\n';
      std::cout.flush();
    } else {
      std::cout << "unknown command" << std::endl;
    }
  }
}
