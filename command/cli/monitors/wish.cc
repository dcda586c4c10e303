#include "cli/monitors/wish.h"

#include <algorithm>
#include <exception>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cli/audit.h"
#include "client/client_core.h"
#include "client/reply_error.h"
#include "client/request_pipeline.h"
#include "forelock/error.h"
#include "records/instance.h"
#include "records/wish.h"

namespace forelock::cli {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

constexpr milliseconds between_looks{100};

const WaiterView* waiter_named(const MonitorView& view, const std::string& node) {
  const auto found = std::find_if(view.queue.begin(), view.queue.end(),
                                  [&node](const WaiterView& waiter) { return waiter.node == node; });
  return found == view.queue.end() ? nullptr : &*found;
}

bool is_of(const std::optional<OwnerRecord>& owner, const std::string& guid) {
  return owner && owner->guid == guid;
}

bool is_there_already(const WaiterView& waiter, Priority priority) {
  return waiter.priority == priority || waiter.owner->rank == priority;
}

// The one of this waiter's session that its process watches: the holder, or the first in the queue.
std::string watched_node(const MonitorView& view, const WaiterView& waiter) {
  if (view.holder && view.holder->session == waiter.session && view.holder->node) return *view.holder->node;
  const auto first = std::find_if(view.queue.begin(), view.queue.end(),
                                  [&waiter](const WaiterView& other) { return other.session == waiter.session; });
  return first->node;
}

class WishCourse {
 public:
  WishCourse(Client& client, milliseconds patience, const Console& console, const Wish& wish, milliseconds timeout)
      : client_(client),
        patience_(patience),
        console_(console),
        wish_(wish),
        deadline_(Clock::now() + timeout),
        inspector_(client, patience) {
    audit_.monitor = wish.monitor;
    audit_.waiter = wish.waiter;
    audit_.priority = wish.priority;
    audit_.reason = wish.reason;
  }

  WishReport run() {
    std::optional<WishOutcome> refusal;
    try {
      while (!written_ && !refusal) refusal = attempt();
    } catch (const Error&) {
      if (audited_ && audit_.result == begun) finish("failed");
      throw;
    }
    if (refusal && !audited_) return {*refusal, waiter_};
    WishOutcome outcome = WishOutcome::already;
    try {
      outcome = refusal ? outcome_after_race(*refusal) : settled_ ? WishOutcome::already : watch();
    } catch (const Error&) {
      finish("unknown");
      throw;
    }
    finish(name_of(outcome));
    return {outcome, waiter_};
  }

 private:
  // Nothing: it was written, or is to be tried again.
  std::optional<WishOutcome> attempt() {
    const std::optional<MonitorView> view = inspector_.show(wish_.monitor);
    if (!view) return WishOutcome::no_such_monitor;
    const WaiterView* const waiter = waiter_named(*view, wish_.waiter);
    if (waiter == nullptr) {
      const bool holds = view->holder && view->holder->node == wish_.waiter;
      return holds ? WishOutcome::holds : WishOutcome::no_such_waiter;
    }
    waiter_ = *waiter;
    if (!waiter->owner || waiter->owner->guid.empty()) return WishOutcome::no_record;
    const bool already = is_there_already(*waiter, wish_.priority);
    const bool other_wish = waiter->owner->wish && *waiter->owner->wish != wish_.priority;
    if (already && !other_wish) return WishOutcome::already;
    settled_ = already;

    const std::string own = view->path + '/' + wish_.waiter;
    const std::string watched = view->path + '/' + watched_node(*view, *waiter);
    client::RequestPipeline requests(client_.core()->ensemble(), Clock::now() + patience_);
    const auto nodes =
        requests.ask(std::vector<coordination::Request>{coordination::Get{own}, coordination::Get{watched}});
    for (const coordination::Reply& node : nodes) {
      if (node.code == coordination::ReplyCode::no_node) return again();
      if (!node.ok()) client::throw_reply_error(node.code, wish_.monitor, "cannot read the waiter's record");
    }
    const std::optional<std::string> record = records::with_wish(nodes[0].data, wish_.priority);
    if (!record) return WishOutcome::no_record;
    if (record->size() > OwnerRecord::max_record_bytes) return WishOutcome::too_large;
    coordination::Transaction transaction{{coordination::SetData{own, *record, nodes[0].stat.version}}};
    if (watched != own) {
      transaction.operations.emplace_back(coordination::SetData{watched, nodes[1].data, nodes[1].stat.version});
    }
    begin(*waiter);
    return write(requests, std::move(transaction));
  }

  std::optional<WishOutcome> write(client::RequestPipeline& requests, coordination::Transaction transaction) {
    try {
      const coordination::Reply reply = requests.ask(std::move(transaction));
      if (reply.code == coordination::ReplyCode::no_node || reply.code == coordination::ReplyCode::bad_version) {
        return again();
      }
      if (!reply.ok()) client::throw_reply_error(reply.code, wish_.monitor, "cannot write the wish");
    } catch (const Error& error) {
      const bool may_be_written = error.code() == ErrorCode::connection_loss ||
                                  error.code() == ErrorCode::session_expired || error.code() == ErrorCode::server_error;
      if (may_be_written && settled_) finish("unknown");
      if (!may_be_written || settled_) throw;
    }
    written_ = true;
    return std::nullopt;
  }

  // Something has changed since it was looked at: the next look tells what.
  std::optional<WishOutcome> again() const {
    if (Clock::now() < deadline_) return std::nullopt;
    return WishOutcome::unmoved;
  }

  static WishOutcome outcome_after_race(WishOutcome refusal) {
    switch (refusal) {
      case WishOutcome::holds:
        return WishOutcome::granted;
      case WishOutcome::no_such_monitor:
      case WishOutcome::no_such_waiter:
        return WishOutcome::gone;
      default:
        return refusal;
    }
  }

  WishOutcome watch() {
    const std::string guid = waiter_->owner->guid;
    int missing = 0;  // between the two requests of a look it may have moved
    for (;;) {
      std::exception_ptr problem;
      try {
        if (const auto outcome = look(guid, missing)) return *outcome;
      } catch (const Error& error) {
        if (!error.retryable()) throw;
        problem = std::current_exception();
      }
      const auto left = deadline_ - Clock::now();
      if (left <= Clock::duration::zero()) {
        if (problem) std::rethrow_exception(problem);
        return missing > 0 ? WishOutcome::gone : WishOutcome::unmoved;
      }
      std::this_thread::sleep_for(std::min<Clock::duration>(between_looks, left));
    }
  }

  std::optional<WishOutcome> look(const std::string& guid, int& missing) {
    const std::optional<MonitorView> view = inspector_.show(wish_.monitor);
    if (view && view->holder && is_of(view->holder->owner, guid)) return WishOutcome::granted;
    static const std::vector<WaiterView> nobody;
    const std::vector<WaiterView>& queue = view ? view->queue : nobody;
    const auto found = std::find_if(queue.begin(), queue.end(),
                                    [&guid](const WaiterView& waiter) { return is_of(waiter.owner, guid); });
    if (found == queue.end()) {
      if (++missing > 1) return WishOutcome::gone;
      return std::nullopt;
    }
    missing = 0;
    waiter_ = *found;
    if (found->node != wish_.waiter && found->priority == wish_.priority) return WishOutcome::moved;
    return std::nullopt;
  }

  static const char* name_of(WishOutcome outcome) {
    switch (outcome) {
      case WishOutcome::moved:
        return "moved";
      case WishOutcome::already:
        return "already";
      case WishOutcome::granted:
        return "granted";
      case WishOutcome::gone:
        return "gone";
      case WishOutcome::unmoved:
        return "unmoved";
      default:
        return "refused";
    }
  }

  void begin(const WaiterView& waiter) {
    if (std::exchange(audited_, true)) return;
    audit_.by = (wish_.by.empty() ? acting_user() : wish_.by) + '@' + records::process_identity();
    audit_.view = waiter;
    audit_.result = begun;
    audit_wish(audit_, console_);
  }

  void finish(const char* result) {
    audit_.result = result;
    if (waiter_ && waiter_->node != wish_.waiter) audit_.node = waiter_->node;
    audit_wish(audit_, console_);
  }

  Client& client_;
  const milliseconds patience_;
  const Console& console_;
  const Wish& wish_;
  const Clock::time_point deadline_;
  Inspector inspector_;
  WishAudit audit_;
  bool audited_ = false;
  bool written_ = false;
  bool settled_ = false;  // it is what is wished: another wish is taken back
  std::optional<WaiterView> waiter_;
};

}  // namespace

WishReport make_wish(Client& client, milliseconds patience, const Console& console, const Wish& wish,
                     milliseconds timeout) {
  return WishCourse(client, patience, console, wish, timeout).run();
}

}  // namespace forelock::cli
