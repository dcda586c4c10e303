// Shared by the tests of the outbox.
#pragma once

#include "forelock/error.h"
#include "outbox/outbox.h"
#include "sample_letter.h"
#include "support/log_lines.h"
#include "support/test.h"
#include "support/text_of.h"

namespace forelock::test {

inline std::vector<outbox::Row> all_rows(const outbox::Outbox& outbox) {
  std::vector<outbox::Row> rows;
  std::int64_t after = std::numeric_limits<std::int64_t>::min();
  for (;;) {
    auto batch = outbox.read(after, 100, 1024 * 1024);
    if (batch.empty()) return rows;
    after = batch.back().sequence;
    std::move(batch.begin(), batch.end(), std::back_inserter(rows));
  }
}

inline std::vector<std::string> ids_of(const outbox::Outbox& outbox) {
  std::vector<std::string> ids;
  for (const outbox::Row& row : all_rows(outbox)) ids.push_back(row.id);
  return ids;
}

inline std::vector<std::string> lines_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

inline void overwrite(const std::filesystem::path& path, std::uint64_t offset, const std::string& bytes) {
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
  file.seekp(static_cast<std::streamoff>(offset));
  file << bytes;
}

// The files in the same directory that were put aside, without their journals.
inline std::vector<std::filesystem::path> put_aside(const std::filesystem::path& path) {
  std::vector<std::filesystem::path> found;
  for (const auto& entry : std::filesystem::directory_iterator(path.parent_path())) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(path.filename().string() + ".damaged-") && !name.ends_with("-journal")) {
      found.push_back(entry.path());
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

// What the call throws.
template <class Call>
Error error_of(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "nothing was thrown";
  return {ErrorCode::internal, {}, ""};
}

}  // namespace forelock::test
