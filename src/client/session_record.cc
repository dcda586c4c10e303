#include "client/session_record.h"

#include <exception>
#include <utility>
#include <variant>

#include "base/thread_start.h"
#include "client/dead_sessions.h"
#include "records/session_text.h"

namespace forelock::client {

using session_file::Found;
using session_file::Refusal;
using session_file::SessionFile;
using zookeeper::SessionEnd;

SessionRecord::~SessionRecord() {
  release();
}

void SessionRecord::release() {
  {
    const std::lock_guard guard(mutex_);
    settled_ = true;
    file_.reset();
  }
  if (ender_.joinable()) ender_.join();
}

void SessionRecord::use(std::string path, std::string ensemble, const zookeeper::SessionOptions& options) {
  path_ = std::move(path);
  ensemble_ = std::move(ensemble);
  options_ = options;
  settled_ = path_.empty();
}

void SessionRecord::take() {
  const std::lock_guard guard(mutex_);
  if (settled_) return;
  SessionFile::Opened opened = SessionFile::of_process(path_);
  if (const auto* refusal = std::get_if<Refusal>(&opened)) {
    settled_ = refusal->reason != Refusal::Reason::locked;
    std::string line = "zookeeper.session.file: " + refusal->message +
                       ": going on without it, so that the locks of this process stay until their session has timed "
                       "out, should it be killed; " +
                       refusal->hint;
    if (line != said_) log_("warning", line);
    said_ = std::move(line);
    return;
  }
  settled_ = true;
  file_ = std::get<std::shared_ptr<SessionFile>>(std::move(opened));
  if (file_->found() == Found::torn || file_->found() == Found::copied) {
    log_("warning", std::string("zookeeper.session.file: the record of the process before is ") +
                        (file_->found() == Found::torn ? "damaged" : "a copy of another file's") +
                        " and proves nothing: that process's locks, if it had any, stay until their session has timed "
                        "out");
  }
  if (session_) write(*file_);
  try {
    if (!file_->left_behind().empty()) {
      ender_ = base::start_thread("forelock-recov", [this, file = file_]() mutable {
        end_predecessor(*file);
        file.reset();
      });
    }
  } catch (const std::exception& problem) {
    log_("warning", std::string("the sessions of the process before are not ended: ") + problem.what());
  }
}

void SessionRecord::end_predecessor(SessionFile& file) {
  for (const DeadSession& session : end_dead_sessions(file, ensemble_, options_)) {
    const std::string name = "the session " + records::session_text(session.id) + " of a process that is gone ";
    if (session.end == SessionEnd::ended) {
      log_("info", name + "has been ended: its locks are free");
    } else if (session.end == SessionEnd::unknown) {
      log_("warning", name + "could not be ended: its locks are free when it has timed out" +
                          (session.problem.empty() ? "" : "; " + session.problem));
    }
  }
}

void SessionRecord::connected(const zookeeper::SessionIdentity& session) {
  const std::lock_guard guard(mutex_);
  session_ = session;
  if (file_) write(*file_);
}

// Requires the mutex.
void SessionRecord::write(SessionFile& file) {
  const std::error_code error = file.record(this, {ensemble_, session_->id, session_->password});
  if (!error) return;
  std::string line = "zookeeper.session.file: this process's session is not recorded (" + error.message() +
                     "): its locks stay until it has timed out, should the process be killed";
  if (line != said_) log_("warning", line);
  said_ = std::move(line);
}

void SessionRecord::closed(bool ended) {
  const std::lock_guard guard(mutex_);
  session_.reset();
  if (file_) file_->drop(this, ended);
}

int SessionRecord::share() {
  const std::lock_guard guard(mutex_);
  settled_ = true;
  return file_ ? file_->descriptor() : -1;
}

}  // namespace forelock::client
