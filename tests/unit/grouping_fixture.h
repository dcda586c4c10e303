// A GroupingSession over requests that the test answers by hand.
#pragma once

#include "grouping/grouping_session.h"
#include "support/test.h"

namespace forelock::grouping {

using coordination::Check;
using coordination::Create;
using coordination::CreateMode;
using coordination::Delete;
using coordination::Get;
using coordination::List;
using coordination::OperationResult;
using coordination::Reply;
using coordination::ReplyCode;
using coordination::Request;
using coordination::RequestTag;
using coordination::Session;
using coordination::SessionEvent;
using coordination::SessionListener;
using coordination::SetData;
using coordination::Transaction;
using coordination::WatchEvent;

// The session below: keeps what it gets until the test answers it.
class Server final : public Session {
 public:
  struct Sent {
    RequestTag tag = 0;
    Request request;
  };

  void submit(RequestTag tag, Request request) override { sent.push_back({tag, std::move(request)}); }

  // How many operations each request has, 0 for one that is no transaction.
  std::vector<std::size_t> sizes() const {
    std::vector<std::size_t> sizes;
    for (const Sent& one : sent) {
      const auto* transaction = std::get_if<Transaction>(&one.request);
      sizes.push_back(transaction == nullptr ? 0 : transaction->operations.size());
    }
    return sizes;
  }

  std::vector<Sent> sent;
};

class GroupingSessionTest : public ::testing::Test, public SessionListener {
 protected:
  GroupingSessionTest() { grouping_.use(&server_); }

  void on_reply(RequestTag tag, Reply reply) override {
    order_.push_back(tag);
    EXPECT_TRUE(replies_.emplace(tag, std::move(reply)).second) << "answered twice: " << tag;
    if (const auto next = then_.find(tag); next != then_.end()) submit(next->second.first, next->second.second);
  }
  void on_watch(const WatchEvent& event) override { watches_.push_back(event.path); }
  void on_session(const SessionEvent&) override { answered_before_event_ = order_.size(); }

  static Transaction claim(const std::string& monitor) {
    Transaction transaction{{Create{"/" + monitor + "/A-", "record", CreateMode::ephemeral_sequential},
                             Create{"/" + monitor + "/privateLock", "", CreateMode::ephemeral}}};
    transaction.groupable = true;
    return transaction;
  }

  void submit(RequestTag tag, Request request) { grouping_.submit(tag, std::move(request)); }
  void step(RequestTag tag, Request request) {
    submit(tag, std::move(request));
    grouping_.flush();
  }
  // Two claims are under way; from now on more are held back.
  void keep_busy() {
    step(901, claim("X"));
    step(902, claim("Y"));
    ASSERT_EQ(server_.sizes(), (std::vector<std::size_t>{2, 2}));
  }

  // Answers the n-th request that was sent. Each operation's path tells its place in it.
  void answer(std::size_t n, ReplyCode code = ReplyCode::ok, std::optional<std::size_t> refused_operation = {}) {
    const Server::Sent& sent = server_.sent.at(n);
    Reply reply;
    reply.code = code;
    reply.refused_operation = refused_operation;
    if (const auto* transaction = std::get_if<Transaction>(&sent.request); transaction != nullptr && reply.ok()) {
      for (std::size_t i = 0; i < transaction->operations.size(); ++i) {
        const auto* create = std::get_if<Create>(&transaction->operations[i]);
        const auto* write = std::get_if<SetData>(&transaction->operations[i]);
        reply.operations.push_back({create == nullptr ? "" : create->path + std::to_string(i), {}});
        if (write == nullptr) continue;
        reply.operations.back().stat.mzxid = 77;
        reply.operations.back().stat.version = 1;
      }
    }
    grouping_.on_reply(sent.tag, std::move(reply));
    grouping_.flush();
  }

  std::vector<std::string> paths_of(RequestTag tag) {
    std::vector<std::string> paths;
    for (const OperationResult& one : replies_.at(tag).operations) paths.push_back(one.path);
    return paths;
  }

  Server server_;
  GroupingSession grouping_{{.at_once = 2, .under_way = 2, .operations = 6, .bytes = 4096}, *this};
  std::map<RequestTag, Reply> replies_;
  std::vector<RequestTag> order_;
  std::map<RequestTag, std::pair<RequestTag, Request>> then_;
  std::vector<std::string> watches_;
  std::size_t answered_before_event_ = 0;
};

}  // namespace forelock::grouping
