// A file to which targets append what they have done: what remains when they are killed.
#pragma once

#include "support/standard.h"

namespace forelock::test {

// Lines are appended whole, by any number of processes at once.
class DrainJournal {
 public:
  // Makes the file if there is none. Throws std::system_error.
  explicit DrainJournal(std::filesystem::path path);
  ~DrainJournal();
  DrainJournal(const DrainJournal&) = delete;
  DrainJournal& operator=(const DrainJournal&) = delete;

  void write(const std::string& line);
  const std::filesystem::path& path() const { return path_; }

  struct Entry {
    std::string what;  // "tried" or "done"
    std::string monitor;
    std::string id;
  };
  // Those behind the first `skip`.
  std::vector<Entry> entries(std::size_t skip = 0) const;
  // How many bytes it has.
  std::size_t size() const;

 private:
  const std::filesystem::path path_;
  int file_ = -1;
};

}  // namespace forelock::test
