// A new file in an outbox's place: the first one, or one for a file that is damaged.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "outbox/file_lock.h"

namespace forelock::outbox {

// It is made as PATH.new and renamed when it is complete and durable; a crash leaves either the old state or the new
// one. Needs PATH.lock alone. Throws SqliteError and std::system_error; the old state is untouched then.
class Replacement {
 public:
  using Log = std::function<void(std::string_view level, std::string_view message)>;
  Replacement(std::filesystem::path path, Log log);

  // An empty outbox, where there is none.
  void make(FileLock& lock) const;
  // Keeps the file at PATH as PATH.damaged-TIME, and puts what can be read of it into a new one. `damage` says what is
  // wrong with it, for the log.
  void repair(FileLock& lock, const std::string& damage) const;

 private:
  std::filesystem::path beside(std::string_view suffix) const;
  // A complete, empty outbox as PATH.new.
  void begin(const FileLock& lock) const;
  void put_into_place(FileLock& lock) const;
  // A journal that belongs to another file than the one which will be at PATH would destroy that one.
  void keep_journal_aside(const std::filesystem::path& aside) const;
  void log(std::string_view level, const std::string& message) const;

  std::filesystem::path path_;
  Log log_;
};

}  // namespace forelock::outbox
