#include "session_file/session_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <map>
#include <optional>
#include <utility>

#include "config/printable.h"
#include "session_file/boot.h"

namespace forelock::session_file {
namespace {

using Reason = Refusal::Reason;

std::error_code last_error() {
  return {errno, std::generic_category()};
}

// One that is closed unless it is released.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int get() const { return number_; }
  int release() { return std::exchange(number_, -1); }

 private:
  int number_;
};

Refusal not_opened(const std::string& name, int error) {
  if (error == ELOOP) return {Reason::unusable, name + " is a symbolic link", "name the file itself"};
  const std::string message = name + " cannot be opened: " + std::generic_category().message(error);
  if (error == ENOENT) return {Reason::absent, message, "make its folder, as RuntimeDirectory= of systemd does"};
  return {Reason::unusable, message, "check the path and its permissions"};
}

// The file system first: where it is none of ours, nothing is said of the file.
std::optional<Refusal> unfit(int descriptor, const std::string& name) {
  struct statfs system {};
  struct stat status {};
  if (::fstatfs(descriptor, &system) != 0 || ::fstat(descriptor, &status) != 0) {
    return Refusal{Reason::unusable, name + " cannot be looked at: " + last_error().message(), ""};
  }
  if (!S_ISREG(status.st_mode)) return Refusal{Reason::unusable, name + " is not a regular file", "name another path"};
  if (!locks_last(static_cast<long>(system.f_type))) {
    return Refusal{Reason::unusable, name + " is on a file system whose locks do not prove that a process is gone",
                   "name a path on tmpfs, as /run is, or on ext4, xfs, btrfs or overlay"};
  }
  if (status.st_uid != ::geteuid()) {
    return Refusal{Reason::unusable, name + " belongs to another user (uid " + std::to_string(status.st_uid) + ")",
                   "each user needs a file of their own"};
  }
  if ((status.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
    return Refusal{Reason::unusable, name + " can be accessed by others", "remove it, or give it mode 0600"};
  }
  if (status.st_nlink > 1) return Refusal{Reason::unusable, name + " has another name too (a hard link)", "remove it"};
  return std::nullopt;
}

// Whether the path still leads to what has been opened: it could have been removed, and made anew by another process.
bool is_current(const std::filesystem::path& path, int descriptor) {
  struct stat open {};
  struct stat named {};
  return ::fstat(descriptor, &open) == 0 && ::lstat(path.c_str(), &named) == 0 && open.st_dev == named.st_dev &&
         open.st_ino == named.st_ino;
}

// The lock is the inode's: a copy of the record in another one says nothing of its process. Overlays get another device
// number each time they are mounted, so of them it does not count.
std::string place_of(int descriptor) {
  struct statfs system {};
  struct stat status {};
  if (::fstatfs(descriptor, &system) != 0 || ::fstat(descriptor, &status) != 0) return {};
  const std::uint64_t device = is_overlay(static_cast<long>(system.f_type)) ? 0 : status.st_dev;
  return std::to_string(device) + ':' + std::to_string(status.st_ino);
}

std::optional<std::string> contents_of(int descriptor) {
  std::string text(largest_record + 1, '\0');
  std::size_t size = 0;
  while (size < text.size()) {
    const ssize_t count = ::pread(descriptor, text.data() + size, text.size() - size, static_cast<off_t>(size));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return std::nullopt;
    if (count == 0) break;
    size += static_cast<std::size_t>(count);
  }
  text.resize(size);
  return text;
}

bool fits(const std::string& ensemble) {
  return !ensemble.empty() && ensemble.size() <= longest_ensemble &&
         std::all_of(ensemble.begin(), ensemble.end(), [](char letter) { return letter != '\n'; });
}

struct Registry {
  explicit Registry(pid_t id) : process(id) {}

  const pid_t process;
  std::mutex mutex;
  std::map<std::filesystem::path, std::weak_ptr<SessionFile>> files;
};

// A forked child has its own: the parent's may be locked for ever there, and its files are not the child's.
Registry& registry() {
  static std::atomic<Registry*> current{nullptr};
  const pid_t process = ::getpid();
  Registry* known = current.load();
  if (known != nullptr && known->process == process) return *known;
  auto fresh = std::make_unique<Registry>(process);
  return current.compare_exchange_strong(known, fresh.get()) ? *fresh.release() : *known;
}

}  // namespace

SessionFile::Opened SessionFile::open(const std::filesystem::path& path, bool make) {
  const std::string name = config::in_quotes(path.native());
  std::string boot = boot_id();
  if (boot.empty()) {
    return Refusal{Reason::unusable, "the machine's boot id cannot be read", "is /proc/sys/kernel/random there?"};
  }
  constexpr int flags = O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
  constexpr int attempts = 10;
  for (int attempt = 0; attempt < attempts; ++attempt) {
    Descriptor file(::open(path.c_str(), flags | (make ? O_CREAT : 0), 0600));
    if (file.get() < 0) return not_opened(name, errno);
    if (auto refusal = unfit(file.get(), name)) return *std::move(refusal);
    if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
      if (errno == EINTR) continue;
      if (errno == EWOULDBLOCK) {
        return Refusal{Reason::locked, name + " is in use by another process",
                       "each process needs a file of its own; that of a killed process is free when all that has "
                       "inherited it has ended"};
      }
      return Refusal{Reason::unusable, name + " cannot be locked: " + last_error().message(), "name another path"};
    }
    if (!is_current(path, file.get())) continue;
    const auto text = contents_of(file.get());
    std::string place = place_of(file.get());
    if (!text || place.empty())
      return Refusal{Reason::unusable, name + " cannot be read: " + last_error().message(), ""};
    ReadRecord record = read_record(*text);
    if (record.state == RecordState::foreign) {
      return Refusal{Reason::unusable, name + " is not a session file of this version, and is left alone",
                     "name another path, or remove it"};
    }
    return std::shared_ptr<SessionFile>(
        new SessionFile(file.release(), std::move(boot), std::move(place), std::move(record)));
  }
  return Refusal{Reason::unusable, name + " is replaced again and again", "what removes it?"};
}

SessionFile::Opened SessionFile::of_process(const std::filesystem::path& path) {
  std::error_code error;
  std::filesystem::path key = std::filesystem::absolute(path, error).lexically_normal();
  if (error) key = path;
  Registry& all = registry();
  const std::lock_guard guard(all.mutex);
  std::weak_ptr<SessionFile>& known = all.files[std::move(key)];
  if (auto shared = known.lock()) return shared;
  Opened opened = open(path, true);
  if (const auto* file = std::get_if<std::shared_ptr<SessionFile>>(&opened)) known = *file;
  return opened;
}

SessionFile::SessionFile(int descriptor, std::string boot, std::string place, ReadRecord record)
    : descriptor_(descriptor), boot_(std::move(boot)), place_(std::move(place)) {
  if (record.state == RecordState::torn) found_ = Found::torn;
  if (record.state != RecordState::whole || record.record.sessions.empty()) return;
  found_ = record.record.boot != boot_     ? Found::other_boot
           : record.record.place != place_ ? Found::copied
                                           : Found::sessions;
  if (found_ != Found::sessions) return;
  for (RecordedSession& session : record.record.sessions) entries_.push_back({std::move(session)});
}

SessionFile::~SessionFile() {
  ::close(descriptor_);
}

std::vector<RecordedSession> SessionFile::left_behind() const {
  const std::lock_guard guard(mutex_);
  std::vector<RecordedSession> sessions;
  for (const Entry& entry : entries_) {
    if (entry.owner == nullptr) sessions.push_back(entry.session);
  }
  return sessions;
}

std::vector<RecordedSession> SessionFile::claim(const std::string& ensemble) {
  const std::lock_guard guard(mutex_);
  std::vector<RecordedSession> sessions;
  for (Entry& entry : entries_) {
    if (entry.owner != nullptr || entry.claimed || entry.session.ensemble != ensemble) continue;
    entry.claimed = true;
    sessions.push_back(entry.session);
  }
  return sessions;
}

std::error_code SessionFile::forget(std::int64_t session) {
  const std::lock_guard guard(mutex_);
  std::erase_if(entries_, [session](const Entry& entry) { return !entry.owner && entry.session.id == session; });
  return write();
}

std::error_code SessionFile::record(const void* owner, RecordedSession session) {
  if (!fits(session.ensemble)) return std::make_error_code(std::errc::invalid_argument);
  const std::lock_guard guard(mutex_);
  const auto own =
      std::find_if(entries_.begin(), entries_.end(), [&](const auto& each) { return each.owner == owner; });
  if (own != entries_.end()) {
    if (own->session == session) return {};
    own->session = std::move(session);
    return write();
  }
  if (entries_.size() >= most_sessions) {
    const auto oldest =
        std::find_if(entries_.begin(), entries_.end(), [](const Entry& entry) { return entry.owner == nullptr; });
    if (oldest == entries_.end()) return std::make_error_code(std::errc::no_buffer_space);
    entries_.erase(oldest);
  }
  entries_.push_back({std::move(session), owner});
  return write();
}

std::error_code SessionFile::drop(const void* owner, bool ended) {
  const std::lock_guard guard(mutex_);
  const auto own =
      std::find_if(entries_.begin(), entries_.end(), [&](const auto& each) { return each.owner == owner; });
  if (own == entries_.end()) return {};
  if (ended) {
    entries_.erase(own);
    return write();
  }
  own->owner = nullptr;
  own->claimed = true;
  return {};
}

// Over the old one, as the lock is the file's and not its name's: who is killed on the way leaves a torn one.
std::error_code SessionFile::write() const {
  Record record{boot_, place_, {}};
  for (const Entry& entry : entries_) record.sessions.push_back(entry.session);
  const std::string text = to_text(record);
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t count = ::pwrite(descriptor_, text.data() + done, text.size() - done, static_cast<off_t>(done));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return last_error();
    done += static_cast<std::size_t>(count);
  }
  return ::ftruncate(descriptor_, static_cast<off_t>(text.size())) == 0 ? std::error_code() : last_error();
}

}  // namespace forelock::session_file
