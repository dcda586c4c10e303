// Dead letters in this machine's outbox, for draining.
#pragma once

#include <memory>
#include <string>

#include "drain/letter_store.h"
#include "outbox/outbox.h"

namespace forelock::drain {

// A letter that is resolved is a row that is gone; a parked one is a row that is marked so, and keeps its place.
// Thread-safe as its base says.
class OutboxStore final : public LetterStore {
 public:
  // \param monitor see drainer_monitor().
  OutboxStore(std::unique_ptr<outbox::Outbox> outbox, std::string monitor);

  std::string describe() const override;
  std::string drainer_monitor() const override { return monitor_; }
  void scan(const LetterFilter& filter, LetterVisitor& visitor) override;
  std::optional<StoredLetter> find(const std::string& id) override;
  std::uint32_t begin_try(const StoredLetter& letter) override;
  void take_back_try(const StoredLetter& letter) override;
  void resolve(const StoredLetter& letter, Resolution resolution) override;
  void resolve(const UnreadableLetter& letter, Resolution resolution) override;
  bool restore(const StoredLetter& letter) override;
  // Nothing to do: what is resolved is gone.
  void settle() override {}
  // Takes the last traces of what is gone out of the file beside the outbox.
  std::uint64_t delete_resolved() override;

 private:
  void resolve(const outbox::RowRef& row, Resolution resolution);

  std::unique_ptr<outbox::Outbox> outbox_;
  std::string monitor_;
};

}  // namespace forelock::drain
