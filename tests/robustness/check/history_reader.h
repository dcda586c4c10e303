// Reads what the processes of a run have written.
//
// Strict: a line that is no event, an event that cannot be (granted before invoked, twice the same call), or a key that
// is missing is an error, since a history that is not understood proves nothing. Tolerated: the torn last line of a
// process that was killed, and keys and events that are not asked about but have the common form.
#pragma once

#include "robustness/check/history.h"

namespace forelock::robustness {

class HistoryReader {
 public:
  HistoryReader();
  ~HistoryReader();
  HistoryReader(const HistoryReader&) = delete;
  HistoryReader& operator=(const HistoryReader&) = delete;

  // One process's file. \param name for messages. \throws HistoryError.
  void read(std::istream& file, const std::string& name);
  // What was read, put together; the reader is empty afterwards. \throws HistoryError.
  History finish();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

// Every *.ndjson of a directory. \throws HistoryError, also if there is none.
History read_history(const std::filesystem::path& directory);

}  // namespace forelock::robustness
