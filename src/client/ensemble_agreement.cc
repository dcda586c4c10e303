// How the links of a client find out that all clients have the same map of ensembles.
#include <utility>

#include "client/client_core.h"
#include "client/clock.h"
#include "client/reply_error.h"
#include "ensembles/map_record.h"

namespace forelock::client {

using coordination::Reply;
using coordination::ReplyCode;
using ensembles::MapAgreement;

namespace {

// Before what was answered with nothing of use is asked again.
constexpr lock::Duration map_pause = std::chrono::milliseconds(100);

std::string map_path() {
  return '/' + std::string(ensembles::map_node_name);
}

}  // namespace

// --- a link ---

// Once in each session, before anything else is asked for in it.
void EnsembleLink::look_at_map() {
  if (!looks_at_map_ || seen_in_ == up_->session) return;
  ask_about_map(coordination::Get{map_path(), false},
                [this, session = up_->session](const Reply& reply) { map_looked_at(session, reply); });
}

// Beside what is counted: it belongs to the set-up of the session, as the look for the chroot does.
void EnsembleLink::ask_about_map(coordination::Request request, std::function<void(const Reply&)> answer) {
  const auto tag = next_own_tag_++;
  map_asked_ = true;
  map_asked_at_ = now();
  auto handler = [this, session = up_->session, answer = std::move(answer)](const Reply& reply) {
    const ClientCore::Step step(core_);
    if (!up_ || up_->session != session) return;
    // Asked for again; over the next connection if it was lost with this one.
    if (coordination::effect_of(reply.code) == coordination::Effect::unknown) return map_unknown(reply.code);
    map_asked_ = false;
    answer(reply);
    if (core_.agreement_) core_.settle_map();
  };
  own_requests_.emplace(tag, OwnRequest{std::move(handler), now(), false});
  session_->submit(tag, std::move(request));
}

void EnsembleLink::map_unknown(ReplyCode code) {
  map_again_at_ = now() + map_pause;
  if (connected_ || code == ReplyCode::connection_loss || code == ReplyCode::session_expired) return;
  problem_ = "the map of the ensembles, " + map_path() + ", is not known yet: " + std::string(reason_of(code));
}

void EnsembleLink::look_again_at_map(lock::TimePoint time) {
  if (time < map_again_at_) return;
  map_again_at_ = lock::never;
  map_asked_ = false;
  if (!up_ || !session_) return;
  look_at_map();
  if (core_.agreement_) core_.settle_map();
}

void EnsembleLink::map_looked_at(coordination::SessionId session, const Reply& reply) {
  if (!reply.ok() && reply.code != ReplyCode::no_node) {
    return cannot_use_map("cannot read the map of the ensembles, " + map_path(), reply.code);
  }
  seen_in_ = session;
  const std::optional<std::string> data = reply.ok() ? std::optional(reply.data) : std::nullopt;
  std::optional<std::string> refusal;
  if (core_.agreement_) {
    core_.agreement_->saw(number(), data, reply.stat.version);
    refusal = core_.agreement_->refusal();
    useless_ = core_.agreement_->differs(number());
  } else if (data) {
    refusal = ensembles::difference(name(), *data);
    useless_ = refusal.has_value();
  }
  core_.set_refusal(refusal.value_or(""));
  if (!core_.agreement_ && !useless_ && !connected_) report_connected();
  core_.connection_changed_.notify_all();
}

// Before the first connection nothing can be held, and what waits would do so until it gives up.
void EnsembleLink::refuse_those_who_wait() {
  if (!connected_ && session_timeout_.load().count() == 0) {
    grouping_.on_session({.kind = coordination::SessionEvent::Kind::expired});
  }
}

void EnsembleLink::cannot_use_map(const std::string& what, ReplyCode code) {
  problem_ = what + ": " + std::string(reason_of(code));
  standing_problem_ = code == ReplyCode::no_auth ? ErrorCode::not_authorized : ErrorCode::server_error;
  log("error", problem_);
  useless_ = true;
}

void EnsembleLink::continue_agreement(MapAgreement& agreement) {
  if (!up_ || !session_ || map_asked_ || useless_ || seen_in_ != up_->session) return;
  switch (agreement.next_step(number())) {
    case MapAgreement::Step::none:
      break;
    case MapAgreement::Step::look:
      ask_about_map(coordination::Get{map_path(), false},
                    [this, session = up_->session](const Reply& reply) { map_looked_at(session, reply); });
      break;
    case MapAgreement::Step::make:
      ask_about_map(coordination::Create{map_path(), agreement.data(number()), coordination::CreateMode::persistent},
                    [this, &agreement](const Reply& reply) {
                      if (reply.ok()) return agreement.made(number());
                      if (reply.code == ReplyCode::node_exists) return agreement.changed(number());
                      cannot_use_map("cannot write the map of the ensembles, " + map_path(), reply.code);
                    });
      break;
    case MapAgreement::Step::mark:
      ask_about_map(coordination::SetData{map_path(), agreement.data(number()), agreement.version(number())},
                    [this, &agreement](const Reply& reply) {
                      if (reply.code == ReplyCode::bad_version) return agreement.changed(number());
                      agreement.marked(number());
                    });
      break;
  }
  if (!connected_ && agreement.may_serve(number())) report_connected();
}

std::optional<std::string> EnsembleLink::why_not_served() const {
  const std::lock_guard guard(core_.mutex_);
  if (!up_ || connected_ || !core_.agreement_) return std::nullopt;
  std::string missing;
  for (const std::size_t other : core_.agreement_->not_seen()) {
    missing += (missing.empty() ? "" : ", ") + core_.link(other).name();
  }
  return "the ensembles have not agreed on their map yet" + (missing.empty() ? "" : ": no answer from " + missing);
}

// --- all of them ---

void ClientCore::settle_map() {
  for (const auto& link : links_) link->continue_agreement(*agreement_);
}

void ClientCore::set_refusal(const std::string& why) {
  if (refusal_ == why) return;
  refusal_ = why;
  refused_ = !why.empty();
  log(why.empty() ? "info" : "error", why.empty() ? "the ensembles have the map of this client now" : why);
  for (const auto& link : links_) {
    if (refused_) link->refuse_those_who_wait();
  }
  connection_changed_.notify_all();
}

}  // namespace forelock::client
