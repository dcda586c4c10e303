// The options of `forelock dlq` that say which letters are meant.
#pragma once

#include <string>
#include <vector>

#include "cli/command.h"
#include "drain/letter_filter.h"
#include "drain/letter_store.h"
#include "drain/open_store.h"

namespace forelock::cli {

class DlqFilter {
 public:
  // Declares them; they are filled in by the parser, so this object must outlive it.
  void add_to(CLI::App& app);

  // \throws FailureException (usage) for a time that is none.
  drain::LetterFilter filter(WallTime now) const;
  drain::StoreKind store_kind() const;

  // Whether any of them but --parked and --outbox is given.
  bool narrows() const;

  // The same options as words of a command line, each with a blank before it.
  std::string words() const { return words(ids_); }
  // With whole ids instead of their beginnings.
  std::string words(const std::vector<std::string>& ids) const;

 private:
  std::string since_;
  std::string until_;
  std::vector<std::string> reasons_;
  std::vector<std::string> types_;
  std::vector<std::string> monitors_;
  std::vector<std::string> ids_;
  bool parked_ = false;
  bool outbox_ = false;
};

// The store that the settings mean, to look into it. \throws ConfigurationException, Error.
std::unique_ptr<drain::LetterStore> open_letters(const Context& context, drain::StoreKind kind);

// \throws Error(configuration) naming who needs it, if Kafka is not configured.
void require_kafka(const Settings& settings, const std::string& who);

}  // namespace forelock::cli
