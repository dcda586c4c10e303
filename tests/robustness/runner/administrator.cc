#include "robustness/runner/administrator.h"

#include "support/wait_until.h"

namespace forelock::robustness {
namespace {

constexpr int session_timeout_ms = 20'000;
constexpr std::chrono::seconds patience{4};

}  // namespace

// Shared with the callback, which may come later than anybody waits, or never.
struct Administrator::Answer {
  struct State {
    std::mutex mutex;
    std::condition_variable changed;
    std::optional<int> code;
    std::vector<std::string> names;
    Node node;
  };
  using Shared = std::shared_ptr<State>;

  Shared state = std::make_shared<State>();

  // The callback's own part of it.
  static Shared take(const void* context) {
    const std::unique_ptr<const Shared> own(static_cast<const Shared*>(context));
    return *own;
  }
  static void finish(const Shared& state, int code) {
    const std::lock_guard guard(state->mutex);
    state->code = code;
    state->changed.notify_all();
  }
  static void done(int code, const void* context) { finish(take(context), code); }
  static void said(int code, const char*, const void* context) { finish(take(context), code); }
  static void listed(int code, const String_vector* names, const void* context) {
    const Shared state = take(context);
    if (code == ZOK) state->names.assign(names->data, names->data + names->count);
    finish(state, code);
  }
  static void read(int code, const char* value, int length, const ::Stat* stat, const void* context) {
    const Shared state = take(context);
    if (code == ZOK) {
      state->node.data.assign(value == nullptr ? "" : value, static_cast<std::size_t>(std::max(length, 0)));
      state->node.session = stat->ephemeralOwner;
    }
    finish(state, code);
  }
};

Administrator::Administrator(std::string servers) : servers_(std::move(servers)) {
  zoo_set_debug_level(ZOO_LOG_LEVEL_ERROR);
}

Administrator::~Administrator() {
  close_handle();
}

void Administrator::disconnect() {
  const std::lock_guard guard(mutex_);
  close_handle();
}

void Administrator::close_handle() {
  if (handle_ != nullptr) zookeeper_close(std::exchange(handle_, nullptr));
}

// Null if no server can be reached.
zhandle_t* Administrator::connected() {
  if (handle_ != nullptr && is_unrecoverable(handle_) != ZOK) close_handle();
  if (handle_ == nullptr) {
    handle_ = zookeeper_init(
        servers_.c_str(), [](zhandle_t*, int, int, const char*, void*) {}, session_timeout_ms, nullptr, nullptr, 0);
  }
  if (handle_ == nullptr) return nullptr;
  const bool up = test::wait_until([this] { return zoo_state(handle_) == ZOO_CONNECTED_STATE; }, patience);
  return up ? handle_ : nullptr;
}

int Administrator::ask(const std::function<int(zhandle_t*, const void*)>& submit, Answer& answer) {
  const std::lock_guard guard(mutex_);
  zhandle_t* handle = connected();
  if (handle == nullptr) return ZCONNECTIONLOSS;
  auto context = std::make_unique<Answer::Shared>(answer.state);
  const int code = submit(handle, context.get());
  if (code != ZOK) return code;
  static_cast<void>(context.release());  // the callback's
  std::unique_lock wait(answer.state->mutex);
  if (!answer.state->changed.wait_for(wait, patience, [&] { return answer.state->code.has_value(); })) {
    return ZOPERATIONTIMEOUT;
  }
  return *answer.state->code;
}

std::optional<std::vector<std::string>> Administrator::children(const std::string& path) {
  Answer answer;
  const int code =
      ask([&](zhandle_t* handle,
              const void* context) { return zoo_aget_children(handle, path.c_str(), 0, &Answer::listed, context); },
          answer);
  if (code == ZNONODE) return std::vector<std::string>();
  if (code != ZOK) return std::nullopt;
  return answer.state->names;
}

std::optional<Administrator::Node> Administrator::get(const std::string& path) {
  Answer answer;
  const int code = ask(
      [&](zhandle_t* handle, const void* context) { return zoo_aget(handle, path.c_str(), 0, &Answer::read, context); },
      answer);
  if (code != ZOK) return std::nullopt;
  return answer.state->node;
}

bool Administrator::create(const std::string& path, const std::string& data) {
  Answer answer;
  return ask(
             [&](zhandle_t* handle, const void* context) {
               return zoo_acreate(handle, path.c_str(), data.data(), static_cast<int>(data.size()),
                                  &ZOO_OPEN_ACL_UNSAFE, 0, &Answer::said, context);
             },
             answer) == ZOK;
}

bool Administrator::remove(const std::vector<std::string>& paths) {
  std::vector<zoo_op_t> operations(paths.size());
  // The client writes here when the answer comes: not later than that, and it may be later than anybody waits.
  auto results = std::make_unique<std::vector<zoo_op_result_t>>(paths.size());
  for (std::size_t i = 0; i < paths.size(); ++i) zoo_delete_op_init(&operations[i], paths[i].c_str(), -1);
  Answer answer;
  const int code = ask(
      [&](zhandle_t* handle, const void* context) {
        return zoo_amulti(handle, static_cast<int>(paths.size()), operations.data(), results->data(), &Answer::done,
                          context);
      },
      answer);
  if (code == ZOPERATIONTIMEOUT) static_cast<void>(results.release());
  return code == ZOK;
}

bool Administrator::permit(const std::string& path, std::int32_t permissions) {
  Answer answer;
  return ask(
             [&](zhandle_t* handle, const void* context) {
               char scheme[] = "world";
               char id[] = "anyone";
               ACL entry{permissions, {scheme, id}};
               ACL_vector list{1, &entry};
               return zoo_aset_acl(handle, path.c_str(), -1, &list, &Answer::done, context);
             },
             answer) == ZOK;
}

bool Administrator::sync(const std::string& path) {
  Answer answer;
  return ask([&](zhandle_t* handle,
                 const void* context) { return zoo_async(handle, path.c_str(), &Answer::said, context); },
             answer) == ZOK;
}

}  // namespace forelock::robustness
