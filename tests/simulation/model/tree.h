// The tree of nodes as one server knows it, and what writes do to it.
#pragma once

#include "coordination/reply.h"
#include "coordination/request.h"
#include "coordination/session.h"
#include "support/standard.h"

namespace forelock::model {

struct Node {
  std::string data;
  std::int64_t czxid = 0;
  std::int64_t mzxid = 0;
  std::int64_t pzxid = 0;  // the transaction that last created or deleted a child
  std::int32_t version = 0;
  // How many children were ever created: the next sequential child's number. Sticks at 2^31-1.
  std::int64_t counter = 0;
  coordination::SessionId ephemeral_owner = 0;
  bool container = false;
  bool closed = false;  // created by a session that keeps its nodes to itself
  std::vector<std::string> children;
};

// What a write did to one node.
struct Change {
  enum class Kind { created, deleted, data_changed };
  Kind kind = Kind::created;
  std::string path;
  std::string data;  // deleted: what it contained
};

// Which session writes, and at which transaction.
struct Writer {
  coordination::SessionId session = 0;
  bool privileged = true;  // may use closed nodes, and closes those it creates when `closes` is set
  bool closes = false;
  std::int64_t zxid = 0;
};

// Rules that hold on every server.
struct TreeRules {
  std::map<std::string, std::int64_t> first_counter;  // of nodes that are created with this path
  std::map<std::string, int> limits;                  // nodes allowed under and including a path
};

// Deterministic: the same writes in the same order give the same tree and the same replies.
class Tree {
 public:
  static constexpr std::int64_t last_counter = 2147483647;

  // `rules` outlives the tree.
  explicit Tree(const TreeRules& rules);

  const Node* find(std::string_view path) const;
  // Applies a write as a whole, or not at all. Changes are appended in the order in which they happened.
  coordination::ReplyCode write(const coordination::Request& request, const Writer& writer, coordination::Reply& reply,
                                std::vector<Change>& changes);
  // Removes the ephemeral nodes of a session.
  void end_session(coordination::SessionId session, std::int64_t zxid, std::vector<Change>& changes);
  // Answers Get, Exists and List.
  coordination::Reply read(const coordination::Request& request, bool privileged) const;

  const auto& nodes() const { return nodes_; }

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
  };
  // How to take one change back.
  struct Undo {
    Change::Kind kind;
    std::string path;
    Node saved;
    std::int64_t parent_counter = 0;
    std::int64_t parent_pzxid = 0;
  };

  Node* node_at(std::string_view path);
  coordination::ReplyCode apply(const coordination::Create& create, const Writer& writer, bool alone,
                                coordination::OperationResult& result);
  coordination::ReplyCode apply(const coordination::Delete& erase, const Writer& writer);
  coordination::ReplyCode apply(const coordination::SetData& set, const Writer& writer,
                                coordination::OperationResult& result);
  coordination::ReplyCode apply(const coordination::Check& check, const Writer& writer) const;
  void erase(const std::string& path, std::int64_t zxid);
  bool over_limit(std::string_view path) const;
  void take_back();

  const TreeRules& rules_;
  std::unordered_map<std::string, Node, Hash, std::equal_to<>> nodes_;
  std::vector<Undo> undo_;
};

std::string_view parent_of(std::string_view path);
std::string_view name_in(std::string_view path);
// Whether ZooKeeper takes this as a path.
bool valid_path(std::string_view path);
coordination::Stat stat_of(const Node& node);

}  // namespace forelock::model
