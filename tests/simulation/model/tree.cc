#include "model/tree.h"

namespace forelock::model {

using coordination::CreateMode;
using coordination::ReplyCode;

namespace {

bool version_fits(std::int32_t wanted, const Node& node) {
  return wanted == coordination::any_version || wanted == node.version;
}

void remove_name(std::vector<std::string>& names, std::string_view name) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found != names.end()) names.erase(found);
}

std::string with_number(const std::string& path, std::int64_t number) {
  std::array<char, 24> digits{};
  std::snprintf(digits.data(), digits.size(), "%010lld", static_cast<long long>(number));
  return path + digits.data();
}

}  // namespace

Tree::Tree(const TreeRules& rules) : rules_(rules) {
  nodes_.emplace("/", Node{});
}

const Node* Tree::find(std::string_view path) const {
  const auto found = nodes_.find(path);
  return found == nodes_.end() ? nullptr : &found->second;
}

Node* Tree::node_at(std::string_view path) {
  const auto found = nodes_.find(path);
  return found == nodes_.end() ? nullptr : &found->second;
}

ReplyCode Tree::write(const coordination::Request& request, const Writer& writer, coordination::Reply& reply,
                      std::vector<Change>& changes) {
  undo_.clear();
  ReplyCode code = ReplyCode::ok;
  coordination::OperationResult result;
  if (const auto* create = std::get_if<coordination::Create>(&request)) {
    code = apply(*create, writer, true, result);
    reply.path = result.path;
  } else if (const auto* removal = std::get_if<coordination::Delete>(&request)) {
    code = apply(*removal, writer);
  } else if (const auto* set = std::get_if<coordination::SetData>(&request)) {
    code = apply(*set, writer, result);
    reply.stat = result.stat;
  } else if (const auto* transaction = std::get_if<coordination::Transaction>(&request)) {
    if (transaction->operations.empty()) code = ReplyCode::invalid_argument;
    for (const auto& operation : transaction->operations) {
      result = {};
      code = std::visit(
          [&](const auto& one) {
            using One = std::decay_t<decltype(one)>;
            if constexpr (std::is_same_v<One, coordination::Create>) return apply(one, writer, false, result);
            if constexpr (std::is_same_v<One, coordination::SetData>) return apply(one, writer, result);
            if constexpr (std::is_same_v<One, coordination::Delete>) return apply(one, writer);
            if constexpr (std::is_same_v<One, coordination::Check>) return apply(one, writer);
          },
          operation);
      if (code != ReplyCode::ok) break;
      reply.operations.push_back(std::move(result));
    }
  } else {
    code = ReplyCode::unimplemented;
  }
  if (code != ReplyCode::ok) {
    take_back();
    const std::size_t done = reply.operations.size();
    reply = {};
    if (const auto* all = std::get_if<coordination::Transaction>(&request);
        all != nullptr && !all->operations.empty()) {
      reply.refused_operation = done;
    }
  } else {
    for (auto& undo : undo_) {
      changes.push_back({undo.kind, std::move(undo.path),
                         undo.kind == Change::Kind::deleted ? std::move(undo.saved.data) : std::string()});
    }
  }
  undo_.clear();
  reply.code = code;
  return code;
}

ReplyCode Tree::apply(const coordination::Create& create, const Writer& writer, bool alone,
                      coordination::OperationResult& result) {
  const bool sequential = create.mode == CreateMode::ephemeral_sequential;
  if (!valid_path(sequential ? create.path + "0" : create.path)) return ReplyCode::invalid_argument;
  if (create.mode == CreateMode::container && !alone) return ReplyCode::invalid_argument;
  Node* parent = node_at(parent_of(create.path));
  if (parent == nullptr) return create.path == "/" ? ReplyCode::node_exists : ReplyCode::no_node;
  if (parent->closed && !writer.privileged) return ReplyCode::no_auth;
  std::string path = sequential ? with_number(create.path, parent->counter) : create.path;
  if (find(path) != nullptr) return ReplyCode::node_exists;
  if (parent->ephemeral_owner != 0) return ReplyCode::no_children_for_ephemerals;
  if (!rules_.limits.empty() && over_limit(path)) return ReplyCode::quota_exceeded;

  Undo undo{Change::Kind::created, path, {}, parent->counter, parent->pzxid};
  Node node;
  node.data = create.data;
  node.czxid = node.mzxid = node.pzxid = writer.zxid;
  if (sequential || create.mode == CreateMode::ephemeral) node.ephemeral_owner = writer.session;
  node.container = create.mode == CreateMode::container;
  node.closed = writer.closes;
  if (!rules_.first_counter.empty()) {
    const auto first = rules_.first_counter.find(path);
    if (first != rules_.first_counter.end()) node.counter = first->second;
  }
  parent->children.emplace_back(name_in(path));
  parent->counter = std::min(parent->counter + 1, last_counter);
  parent->pzxid = writer.zxid;
  nodes_.emplace(path, std::move(node));
  undo_.push_back(std::move(undo));
  result.path = std::move(path);
  return ReplyCode::ok;
}

ReplyCode Tree::apply(const coordination::Delete& removal, const Writer& writer) {
  if (!valid_path(removal.path) || removal.path == "/") return ReplyCode::invalid_argument;
  Node* node = node_at(removal.path);
  if (node == nullptr) return ReplyCode::no_node;
  Node* parent = node_at(parent_of(removal.path));
  if (parent->closed && !writer.privileged) return ReplyCode::no_auth;
  if (!version_fits(removal.version, *node)) return ReplyCode::bad_version;
  if (!node->children.empty()) return ReplyCode::not_empty;
  undo_.push_back({Change::Kind::deleted, removal.path, *node, parent->counter, parent->pzxid});
  erase(removal.path, writer.zxid);
  return ReplyCode::ok;
}

ReplyCode Tree::apply(const coordination::SetData& set, const Writer& writer, coordination::OperationResult& result) {
  if (!valid_path(set.path)) return ReplyCode::invalid_argument;
  Node* node = node_at(set.path);
  if (node == nullptr) return ReplyCode::no_node;
  if (node->closed && !writer.privileged) return ReplyCode::no_auth;
  if (!version_fits(set.version, *node)) return ReplyCode::bad_version;
  Undo undo{Change::Kind::data_changed, set.path, {}, 0, 0};
  undo.saved.data = std::exchange(node->data, set.data);
  undo.saved.mzxid = std::exchange(node->mzxid, writer.zxid);
  undo.saved.version = node->version++;
  undo_.push_back(std::move(undo));
  result.stat = stat_of(*node);
  return ReplyCode::ok;
}

ReplyCode Tree::apply(const coordination::Check& check, const Writer& writer) const {
  if (!valid_path(check.path)) return ReplyCode::invalid_argument;
  const Node* node = find(check.path);
  if (node == nullptr) return ReplyCode::no_node;
  if (node->closed && !writer.privileged) return ReplyCode::no_auth;
  return version_fits(check.version, *node) ? ReplyCode::ok : ReplyCode::bad_version;
}

void Tree::erase(const std::string& path, std::int64_t zxid) {
  Node* parent = node_at(parent_of(path));
  remove_name(parent->children, name_in(path));
  parent->pzxid = zxid;
  nodes_.erase(nodes_.find(path));
}

void Tree::take_back() {
  for (auto undo = undo_.rbegin(); undo != undo_.rend(); ++undo) {
    Node* parent = node_at(parent_of(undo->path));
    switch (undo->kind) {
      case Change::Kind::created:
        remove_name(parent->children, name_in(undo->path));
        nodes_.erase(nodes_.find(undo->path));
        break;
      case Change::Kind::deleted:
        parent->children.emplace_back(name_in(undo->path));
        nodes_.emplace(undo->path, std::move(undo->saved));
        break;
      case Change::Kind::data_changed: {
        Node* node = node_at(undo->path);
        node->data = std::move(undo->saved.data);
        node->mzxid = undo->saved.mzxid;
        node->version = undo->saved.version;
        continue;
      }
    }
    parent->counter = undo->parent_counter;
    parent->pzxid = undo->parent_pzxid;
  }
}

void Tree::end_session(coordination::SessionId session, std::int64_t zxid, std::vector<Change>& changes) {
  std::vector<std::string> mine;
  for (const auto& [path, node] : nodes_) {
    if (node.ephemeral_owner == session) mine.push_back(path);
  }
  std::sort(mine.begin(), mine.end());
  for (auto& path : mine) {
    std::string data = find(path)->data;
    erase(path, zxid);
    changes.push_back({Change::Kind::deleted, std::move(path), std::move(data)});
  }
}

coordination::Reply Tree::read(const coordination::Request& request, bool privileged) const {
  coordination::Reply reply;
  const auto look = [&](const std::string& path, bool guarded) -> const Node* {
    const Node* node = valid_path(path) ? find(path) : nullptr;
    if (!valid_path(path)) {
      reply.code = ReplyCode::invalid_argument;
    } else if (node == nullptr) {
      reply.code = ReplyCode::no_node;
    } else if (guarded && node->closed && !privileged) {
      reply.code = ReplyCode::no_auth;
    } else {
      reply.stat = stat_of(*node);
      return node;
    }
    return nullptr;
  };
  if (const auto* get = std::get_if<coordination::Get>(&request)) {
    if (const Node* node = look(get->path, true)) reply.data = node->data;
  } else if (const auto* exists = std::get_if<coordination::Exists>(&request)) {
    look(exists->path, false);
  } else if (const auto* list = std::get_if<coordination::List>(&request)) {
    if (const Node* node = look(list->path, true)) reply.children = node->children;
  } else {
    reply.code = ReplyCode::unimplemented;
  }
  return reply;
}

bool Tree::over_limit(std::string_view path) const {
  for (const auto& [root, limit] : rules_.limits) {
    const std::string prefix = root == "/" ? root : root + "/";
    if (path.substr(0, prefix.size()) != prefix) continue;
    int count = 0;
    for (const auto& [other, node] : nodes_) {
      if (other == root || std::string_view(other).substr(0, prefix.size()) == prefix) ++count;
    }
    if (count + 1 > limit) return true;
  }
  return false;
}

}  // namespace forelock::model
