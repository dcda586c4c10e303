#include "integration/drain_journal.h"

#include <fcntl.h>
#include <unistd.h>

namespace forelock::test {

DrainJournal::DrainJournal(std::filesystem::path path)
    : path_(std::move(path)), file_(open(path_.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600)) {
  if (file_ < 0) throw std::system_error(errno, std::generic_category(), path_.string());
}

DrainJournal::~DrainJournal() {
  close(file_);
}

void DrainJournal::write(const std::string& line) {
  const std::string whole = line + "\n";
  if (::write(file_, whole.data(), whole.size()) != static_cast<ssize_t>(whole.size())) {
    throw std::system_error(errno, std::generic_category(), path_.string());
  }
}

std::vector<DrainJournal::Entry> DrainJournal::entries(std::size_t skip) const {
  std::vector<Entry> entries;
  std::ifstream file(path_);
  for (std::string line; std::getline(file, line);) {
    if (skip > 0) {
      --skip;
      continue;
    }
    std::istringstream words(line);
    Entry& entry = entries.emplace_back();
    words >> entry.what >> entry.monitor >> entry.id;
  }
  return entries;
}

std::size_t DrainJournal::size() const {
  return std::filesystem::file_size(path_);
}

}  // namespace forelock::test
