#include "capi/dead_letters.h"

#include "capi/config_object.h"
#include "capi/handles.h"
#include "capi/lock_arguments.h"
#include "capi/queue_log.h"
#include "capi/structure.h"

using namespace forelock;
using namespace forelock::capi;

const std::shared_ptr<DeadLetters>& DeadLettersObject::letters_for(const ClientState& client) const {
  log_->used_by(client);
  return letters_;
}

extern "C" {

int32_t fl_internal_open_dlq(fl_config config, MakeDeadLetters make, fl_dlq* dlq) {
  return capi::run([&] {
    fl_dlq& result = target(dlq);
    const Settings settings = config == 0 ? Settings() : find<ConfigObject>(config)->settings();
    const auto log = std::make_shared<QueueLog>();
    auto letters = make(settings, [log](std::string_view level, std::string_view text) { log->say(level, text); });
    result = add(std::make_unique<DeadLettersObject>(std::move(letters), log));
  });
}

int32_t fl_dlq_flush(fl_dlq dlq, int64_t timeout_ms, int32_t* done) {
  return capi::run([&] {
    const auto use = find<DeadLettersObject>(dlq);
    target(done) = use->letters()->flush(duration_of(timeout_ms)) ? 1 : 0;
  });
}

int32_t fl_dlq_get_status(fl_dlq dlq, fl_dlq_status* status) {
  return capi::run([&] { write_structure(status, find<DeadLettersObject>(dlq)->letters()->status()); });
}

int32_t fl_dlq_free(fl_dlq dlq) {
  return capi::run([&] { remove<DeadLettersObject>(dlq); });
}
}
