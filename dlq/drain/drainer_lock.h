// A DrainerLock makes its owner the single writer of a dead-letter store.
#pragma once

#include <stop_token>
#include <string>

#include "drain/letter_store.h"
#include "drain/open_store.h"
#include "forelock/blocking_write_lock.h"
#include "forelock/client.h"
#include "forelock/settings.h"

namespace forelock::drain {

// The monitor object whose lock makes the drainer single: of one topic, or of this machine's outbox at its path.
std::string drainer_monitor(const Settings& settings, StoreKind kind = StoreKind::configured);

// Held from construction to destruction, at background priority. For replays (Replayer takes it itself), for parking
// and for purging; reading needs none.
class DrainerLock final : public DrainerProof {
 public:
  // Waits a little longer than the lock of a drainer lives on that has just been killed. \param purpose for people, a
  // word such as "replay"; the store's name is added. \param stop ends the waiting.
  // \throws InstanceLockException naming the other drainer (lock_timeout), or when stopped (cancelled);
  // ConnectionLossException, SessionExpiredException, RequestRejectedException. The store, which must outlive it, makes
  // its changes in its name until it is released.
  DrainerLock(Client& client, LetterStore& store, const std::string& purpose, std::stop_token stop = {});
  // Releases it and waits for that; never throws.
  ~DrainerLock() override;
  DrainerLock(const DrainerLock&) = delete;
  DrainerLock& operator=(const DrainerLock&) = delete;

  // Stopped when the lock is lost: the drainer must end.
  std::stop_token stop_token() const { return lock_.stop_token(); }
  std::uint64_t token() const override { return static_cast<std::uint64_t>(lock_.fencing_token()); }
  // \throws LockUnhealthyException if it is, or may be, lost.
  void check_health() const override { lock_.check_health(); }
  bool healthy() const noexcept { return lock_.healthy(); }

 private:
  LetterStore& store_;
  BlockingWriteLock lock_;
};

// Such as `held by host/17/main for "Reindex" since 12 s`, or that it is not held any more. Asks the server, for at
// most a second; never throws.
std::string holder_text(Client& client, const std::string& monitor);

}  // namespace forelock::drain
