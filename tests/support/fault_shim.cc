// A library for LD_PRELOAD (or to be linked to a test program) that lets a process die or stop, or its disk fail, at
// exactly the N-th call that changes a file or sends to a socket. Steered by the environment:
//
//   FAULT_SHIM_ACTION   what happens:
//                         kill_before, kill_after   SIGKILL before or after the N-th call
//                         kill_half                 SIGKILL after half of the N-th call's bytes were written (of calls
//                                                   that write nothing: before it)
//                         stop_before, stop_after   SIGSTOP before or after the N-th call: all threads stop until
//                                                   another process sends SIGCONT
//                         ENOSPC, EIO, EROFS        the N-th call and those behind it fail, where that error makes
//                                                   sense: a full disk refuses writes and new names, EIO also syncs, a
//                                                   read-only file system everything but syncs
//                       not set: calls are only counted
//   FAULT_SHIM_STEP     N, from 1; 1 if it is not set
//   FAULT_SHIM_TIMES    how many calls fail before the disk is well again; for ever if it is not set
//   FAULT_SHIM_CALLS    "file" (if it is not set), "socket" or "all"
//   FAULT_SHIM_PATH     only files whose absolute path begins so; all ordinary files and directories if it is not set
//   FAULT_SHIM_PROGRAM  only in programs of this file name: children inherit the environment; in all if it is not set
//   FAULT_SHIM_LOG      a file: each counted call adds a line "NUMBER CALL BYTES PATH" before it is made, so the number
//                       of steps of a run is that of the lines
//
// Counted are: open for writing or making, write, writev, pwrite, ftruncate, fsync, fdatasync, unlink, remove, rename,
// link, mkdir, and on sockets send, sendto, sendmsg, write, writev. These are what libsqlite3 (open64, write, pwrite64,
// ftruncate64, fdatasync, unlink, mkdir), librdkafka (sendmsg; write for its own pipes, which are not counted) and
// libstdc++ call on Debian 12, seen with nm -D and strace. TLS does not pass here call by call: OpenSSL writes with
// write(). Not covered: memory maps, io_uring, system calls made without the C library.
//
// Numbers are those of one process, over all its threads.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string_view>

namespace {

enum class Action { none, kill_before, kill_half, kill_after, stop_before, stop_after, fail };

// What a call does to a file; says which errors it can give.
enum class Kind { make, write, sync, change, send };

struct Plan {
  Action action = Action::none;
  int error = 0;
  long step = 1;
  long times = std::numeric_limits<long>::max();
  bool files = true;
  bool sockets = false;
  std::string_view path;
  int log = -1;
};

std::string_view environment(const char* name) {
  const char* const value = getenv(name);
  return value ? std::string_view(value) : std::string_view();
}

long number(const char* name, long otherwise) {
  const std::string_view text = environment(name);
  return text.empty() ? otherwise : strtol(text.data(), nullptr, 10);
}

bool in_this_program() {
  const std::string_view wanted = environment("FAULT_SHIM_PROGRAM");
  if (wanted.empty()) return true;
  char path[PATH_MAX];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof path);
  if (length < 0) return false;
  const std::string_view program(path, static_cast<std::size_t>(length));
  return program.substr(program.rfind('/') + 1) == wanted;
}

Plan make_plan() {
  Plan plan;
  if (!in_this_program()) {
    plan.files = false;
    return plan;
  }
  const std::string_view action = environment("FAULT_SHIM_ACTION");
  if (action == "kill_before") plan.action = Action::kill_before;
  if (action == "kill_half") plan.action = Action::kill_half;
  if (action == "kill_after") plan.action = Action::kill_after;
  if (action == "stop_before") plan.action = Action::stop_before;
  if (action == "stop_after") plan.action = Action::stop_after;
  if (action == "ENOSPC") plan.error = ENOSPC;
  if (action == "EIO") plan.error = EIO;
  if (action == "EROFS") plan.error = EROFS;
  if (plan.error != 0) plan.action = Action::fail;
  if (!action.empty() && plan.action == Action::none) {
    fprintf(stderr, "FAULT_SHIM_ACTION: unknown value\n");
    abort();
  }
  plan.step = number("FAULT_SHIM_STEP", 1);
  plan.times = number("FAULT_SHIM_TIMES", plan.times);
  const std::string_view calls = environment("FAULT_SHIM_CALLS");
  plan.files = calls != "socket";
  plan.sockets = calls == "socket" || calls == "all";
  plan.path = environment("FAULT_SHIM_PATH");
  const std::string_view log = environment("FAULT_SHIM_LOG");
  if (!log.empty()) {
    // Without the C library's wrappers, which are the ones below.
    plan.log = static_cast<int>(
        syscall(SYS_openat, AT_FDCWD, log.data(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, S_IRUSR | S_IWUSR));
  }
  return plan;
}

const Plan& plan() {
  static const Plan made = make_plan();
  return made;
}

std::atomic<long> calls{0};
std::atomic<long> failures{0};

bool can_fail(Kind kind, int error) {
  switch (error) {
    case ENOSPC:
      return kind == Kind::make || kind == Kind::write;
    case EROFS:
      return kind != Kind::sync && kind != Kind::send;
    default:
      return true;
  }
}

[[noreturn]] void die() {
  for (;;) syscall(SYS_kill, getpid(), SIGKILL);
}

// To this thread, which so cannot go on before the whole process has stopped.
void stop() {
  const int saved = errno;
  syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), SIGSTOP);
  errno = saved;
}

void log_call(long call, const char* name, std::size_t bytes, std::string_view path) {
  if (plan().log < 0) return;
  char line[PATH_MAX + 64];
  const int length =
      snprintf(line, sizeof line, "%ld %s %zu %.*s\n", call, name, bytes, static_cast<int>(path.size()), path.data());
  if (length > 0) syscall(SYS_write, plan().log, line, std::min(static_cast<std::size_t>(length), sizeof line));
}

// One counted call. `now` makes it; `half` writes half of it.
template <class Now, class Half>
auto counted(const char* name, Kind kind, std::string_view path, std::size_t bytes, Now now, Half half)
    -> decltype(now()) {
  const Plan& the = plan();
  const long call = ++calls;
  log_call(call, name, bytes, path);
  if (the.action == Action::fail && call >= the.step && can_fail(kind, the.error) && failures++ < the.times) {
    errno = the.error;
    return -1;
  }
  const bool hit = call == the.step;
  if (hit && the.action == Action::kill_before) die();
  if (hit && the.action == Action::kill_half) {
    half();
    die();
  }
  if (hit && the.action == Action::stop_before) stop();
  const auto result = now();
  if (hit && the.action == Action::kill_after) die();
  if (hit && the.action == Action::stop_after) stop();
  return result;
}

void nothing() {}

// Paths as the caller wrote them may be relative.
class AbsolutePath {
 public:
  explicit AbsolutePath(const char* path) {
    if (path[0] == '/' || !getcwd(text_, sizeof text_)) text_[0] = '\0';
    const std::size_t used = strlen(text_);
    snprintf(text_ + used, sizeof text_ - used, "%s%s", used > 0 ? "/" : "", path);
  }
  std::string_view text() const { return text_; }
  bool counts() const { return plan().files && text().starts_with(plan().path); }

 private:
  char text_[2 * PATH_MAX];
};

class Descriptor {
 public:
  explicit Descriptor(int file) {
    const int saved = errno;
    struct stat status {};
    if (fstat(file, &status) == 0) {
      socket_ = S_ISSOCK(status.st_mode);
      file_ = S_ISREG(status.st_mode) || S_ISDIR(status.st_mode);
    }
    if (file_ && plan().files) {
      char name[64];
      snprintf(name, sizeof name, "/proc/self/fd/%d", file);
      const ssize_t length = readlink(name, text_, sizeof text_);
      length_ = length > 0 ? static_cast<std::size_t>(length) : 0;
    }
    errno = saved;
  }
  std::string_view text() const { return socket_ ? "socket" : std::string_view(text_, length_); }
  bool is_socket() const { return socket_; }
  bool counts() const {
    if (socket_) return plan().sockets;
    return file_ && plan().files && text().starts_with(plan().path);
  }

 private:
  bool socket_ = false;
  bool file_ = false;
  std::size_t length_ = 0;
  char text_[PATH_MAX];
};

template <class Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

std::size_t size_of(const iovec* parts, int count) {
  std::size_t bytes = 0;
  for (int i = 0; i < count; ++i) bytes += parts[i].iov_len;
  return bytes;
}

// Half of the bytes, from the front, by `write_some(data, size)`.
template <class WriteSome>
void write_half(const iovec* parts, int count, WriteSome write_some) {
  std::size_t left = size_of(parts, count) / 2;
  for (int i = 0; i < count && left > 0; ++i) {
    const std::size_t size = std::min(left, parts[i].iov_len);
    write_some(parts[i].iov_base, size);
    left -= size;
  }
}

template <class Open>
int opened(const char* name, const char* path, int flags, Open open_now) {
  const AbsolutePath absolute(path);
  if ((flags & (O_WRONLY | O_RDWR | O_CREAT)) == 0 || !absolute.counts()) return open_now();
  const bool makes = (flags & O_CREAT) != 0 && access(path, F_OK) != 0;
  return counted(name, makes ? Kind::make : Kind::change, absolute.text(), 0, open_now, nothing);
}

template <class Write>
ssize_t written(const char* name, int file, std::size_t size, Write write_now) {
  const Descriptor descriptor(file);
  const auto now = [&] { return write_now(size); };
  if (!descriptor.counts()) return now();
  return counted(name, descriptor.is_socket() ? Kind::send : Kind::write, descriptor.text(), size, now,
                 [&] { write_now(size / 2); });
}

template <class Change>
int changed(const char* name, Kind kind, const char* path, Change change_now) {
  const AbsolutePath absolute(path);
  if (!absolute.counts()) return change_now();
  return counted(name, kind, absolute.text(), 0, change_now, nothing);
}

template <class Change>
int changed(const char* name, Kind kind, int file, Change change_now) {
  const Descriptor descriptor(file);
  if (!descriptor.counts()) return change_now();
  return counted(name, kind, descriptor.text(), 0, change_now, nothing);
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

int open(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(arguments, mode_t) : 0;
  va_end(arguments);
  static const auto real = next<int(const char*, int, ...)>("open");
  return opened("open", path, flags, [&] { return real(path, flags, mode); });
}

int open64(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(arguments, mode_t) : 0;
  va_end(arguments);
  static const auto real = next<int(const char*, int, ...)>("open64");
  return opened("open", path, flags, [&] { return real(path, flags, mode); });
}

ssize_t write(int file, const void* data, size_t size) {
  static const auto real = next<ssize_t(int, const void*, size_t)>("write");
  return written("write", file, size, [&](size_t part) { return real(file, data, part); });
}

ssize_t pwrite(int file, const void* data, size_t size, off_t offset) {
  static const auto real = next<ssize_t(int, const void*, size_t, off_t)>("pwrite");
  return written("pwrite", file, size, [&](size_t part) { return real(file, data, part, offset); });
}

ssize_t pwrite64(int file, const void* data, size_t size, off64_t offset) {
  static const auto real = next<ssize_t(int, const void*, size_t, off64_t)>("pwrite64");
  return written("pwrite", file, size, [&](size_t part) { return real(file, data, part, offset); });
}

ssize_t writev(int file, const iovec* parts, int count) {
  static const auto real = next<ssize_t(int, const iovec*, int)>("writev");
  static const auto real_write = next<ssize_t(int, const void*, size_t)>("write");
  const Descriptor descriptor(file);
  const auto now = [&] { return real(file, parts, count); };
  if (!descriptor.counts()) return now();
  return counted(
      "writev", descriptor.is_socket() ? Kind::send : Kind::write, descriptor.text(), size_of(parts, count), now,
      [&] { write_half(parts, count, [&](const void* data, size_t size) { real_write(file, data, size); }); });
}

int fsync(int file) {
  static const auto real = next<int(int)>("fsync");
  return changed("fsync", Kind::sync, file, [&] { return real(file); });
}

int fdatasync(int file) {
  static const auto real = next<int(int)>("fdatasync");
  return changed("fdatasync", Kind::sync, file, [&] { return real(file); });
}

int ftruncate(int file, off_t length) noexcept {
  static const auto real = next<int(int, off_t)>("ftruncate");
  return changed("ftruncate", Kind::change, file, [&] { return real(file, length); });
}

int ftruncate64(int file, off64_t length) noexcept {
  static const auto real = next<int(int, off64_t)>("ftruncate64");
  return changed("ftruncate", Kind::change, file, [&] { return real(file, length); });
}

int unlink(const char* path) noexcept {
  static const auto real = next<int(const char*)>("unlink");
  return changed("unlink", Kind::change, path, [&] { return real(path); });
}

int remove(const char* path) noexcept {
  static const auto real = next<int(const char*)>("remove");
  return changed("remove", Kind::change, path, [&] { return real(path); });
}

int rename(const char* from, const char* to) noexcept {
  static const auto real = next<int(const char*, const char*)>("rename");
  return changed("rename", Kind::change, to, [&] { return real(from, to); });
}

int link(const char* from, const char* to) noexcept {
  static const auto real = next<int(const char*, const char*)>("link");
  return changed("link", Kind::make, to, [&] { return real(from, to); });
}

int mkdir(const char* path, mode_t mode) noexcept {
  static const auto real = next<int(const char*, mode_t)>("mkdir");
  return changed("mkdir", Kind::make, path, [&] { return real(path, mode); });
}

ssize_t send(int file, const void* data, size_t size, int flags) {
  static const auto real = next<ssize_t(int, const void*, size_t, int)>("send");
  return written("send", file, size, [&](size_t part) { return real(file, data, part, flags); });
}

ssize_t sendto(int file, const void* data, size_t size, int flags, const sockaddr* to, socklen_t length) {
  static const auto real = next<ssize_t(int, const void*, size_t, int, const sockaddr*, socklen_t)>("sendto");
  return written("sendto", file, size, [&](size_t part) { return real(file, data, part, flags, to, length); });
}

ssize_t sendmsg(int file, const msghdr* message, int flags) {
  static const auto real = next<ssize_t(int, const msghdr*, int)>("sendmsg");
  static const auto real_send = next<ssize_t(int, const void*, size_t, int)>("send");
  const Descriptor descriptor(file);
  const auto now = [&] { return real(file, message, flags); };
  if (!descriptor.counts()) return now();
  const int count = static_cast<int>(message->msg_iovlen);
  return counted("sendmsg", Kind::send, descriptor.text(), size_of(message->msg_iov, count), now, [&] {
    write_half(message->msg_iov, count, [&](const void* data, size_t size) { real_send(file, data, size, flags); });
  });
}

}  // extern "C"
#pragma GCC visibility pop
