// librdkafka's imitation of a cluster, whose answers can be chosen.
#pragma once

#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>

#include "support/standard.h"

namespace forelock::test {

// One broker.
class MockCluster {
 public:
  MockCluster()
      : client_(rd_kafka_new(RD_KAFKA_PRODUCER, rd_kafka_conf_new(), nullptr, 0)),
        cluster_(rd_kafka_mock_cluster_new(client_, 1)) {}
  ~MockCluster() {
    rd_kafka_mock_cluster_destroy(cluster_);
    rd_kafka_destroy(client_);
  }
  MockCluster(const MockCluster&) = delete;
  MockCluster& operator=(const MockCluster&) = delete;

  std::string bootstrap() const { return rd_kafka_mock_cluster_bootstraps(cluster_); }
  void make_topic(const char* topic) { rd_kafka_mock_topic_create(cluster_, topic, 1, 1); }
  // The first request with records is answered well, the second one after this time so.
  void answer_second_records_with(rd_kafka_resp_err_t answer, std::chrono::milliseconds time) {
    rd_kafka_mock_broker_push_request_error_rtts(cluster_, 1, produce, 2, RD_KAFKA_RESP_ERR_NO_ERROR, 0, answer,
                                                 static_cast<int>(time.count()));
  }
  // The next requests with records are answered so, one after the other.
  void answer_records_with(std::vector<rd_kafka_resp_err_t> answers) {
    rd_kafka_mock_push_request_errors_array(cluster_, produce, answers.size(), answers.data());
  }
  void answer_records_well() { rd_kafka_mock_clear_request_errors(cluster_, produce); }
  void set_round_trip(std::chrono::milliseconds time) {
    rd_kafka_mock_broker_set_rtt(cluster_, -1, static_cast<int>(time.count()));
  }
  // Who asks about the topic is answered so from now on.
  void answer_topic_with(const char* topic, rd_kafka_resp_err_t answer) {
    rd_kafka_mock_topic_set_error(cluster_, topic, answer);
  }

 private:
  static constexpr std::int16_t produce = 0;

  rd_kafka_t* client_;
  rd_kafka_mock_cluster_t* cluster_;
};

}  // namespace forelock::test
