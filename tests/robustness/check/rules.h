// The rules that a history is judged by. Each is a pure function in a file of its own; none knows of another.
#pragma once

#include "robustness/check/findings.h"
#include "robustness/check/history.h"

namespace forelock::robustness {

// At the resource: two accesses of one monitor overlap only if the older one's token was refused from then on, and its
// holder could not have left by then (it was stopped, or this very lock taken from it by force); and no token is
// accepted after a higher one.
//
// Accesses without a token (by clients that know none) cannot be refused. Those that overlap are counted as undecided.
Findings exclusive_accesses(const History& history);

// At the clients: the times during which clients of ours were certain to hold one monitor do not overlap. Certain is a
// holder from the grant until it saw the lock unhealthy, was told of its loss, or called release. A process that stands
// still claims nothing; nor does one whose lock, this very one, was taken away by force, until it must have noticed.
Findings exclusive_certainty(const History& history);

// Tokens of a monitor: none is granted to two sessions, classes or contenders, and who asked after another had been
// granted has a higher one. Sections under one grant share its token: those of a lock that has stayed with its process.
// Where such a lock has been taken away by force, the process may not know it yet.
Findings rising_tokens(const History& history);

// Locks that stay with their process for its next section, judged from the servers' own log. No section begins under a
// grant
// - after the lock was given back or taken away (by force: after its holder must have noticed),
// - when a contender of another session had been in the queue for longer than two thirds of the session's time-out:
//   only a connection that has delivered the news proves the session for longer,
// - when a contender of the same session that was granted the lock later was in the queue.
// Judged are the sections that share a token with an earlier one. Undecided are those whose grant the log does not
// have.
Findings taken_again(const History& history);

// Judged from the servers' own log: what was in the queue at the transaction of each grant. Undecided from the first
// transaction on that the servers have lost.
struct LineFindings {
  Findings priority;  // a grant of the lower class while the higher class waits
  Findings fifo;      // a grant while somebody of the same class waits who was there before
  Findings owners;    // a token that is not of the holder's own transaction; a privateLock removed by another client
};
LineFindings just_grants(const History& history);

// The servers number the nodes below a monitor, and never go back. If they do, transactions that they had confirmed are
// gone (ZooKeeper 3.8.0 can lose some when a leader dies just after a follower has joined: ZOOKEEPER-4646, -4785), or
// the log was not read right. From then on the log does not tell what the servers had.
Findings consistent_log(const History& history);

// The first zxid of the first epoch of which the servers have lost something that they had confirmed; the highest one
// there is if they have lost nothing.
std::int64_t first_not_trusted(const History& history);

// Every call ends by its deadline, and every release within the session's time-out, each plus the bound; time during
// which the process stood still does not count.
struct Bounds {
  Span library = std::chrono::milliseconds(500);
  // The command line has a process to start and to end.
  Span command = std::chrono::milliseconds(1500);
};
Findings bounded_waits(const History& history, const Bounds& bounds);

// Nothing of a contender is left once everything has ended.
Findings nothing_left(const History& history);

// Whatever the dead-letter queue has accepted is found in the topic or in the outbox, unaltered; nothing that succeeded
// is. An operation of a process that was not killed has ended, in one way.
Findings kept_letters(const History& history);

// What a process uses (memory, descriptors, threads), and what all together keep on the servers (watches, nodes), does
// not grow: the medians of the first and the last quarter of the time are compared. Of those that were watched for
// ten minutes at least, the first minutes left out.
struct FlatFindings {
  Findings findings;
  struct Use {
    std::string who;
    std::string what;
    std::int64_t first = 0;
    std::int64_t last = 0;
  };
  std::vector<Use> uses;
};
FlatFindings flat_use(const History& history);

// By how much holders knew before anybody else could hold: from the moment at which the holder of a stall round saw its
// lock unhealthy to the next grant of that monitor or the end of its session at the server, whichever was first.
struct StallFindings {
  Findings findings;           // margins that are not positive
  std::optional<Span> margin;  // the smallest one
};
StallFindings stall_margins(const History& history);
// The same of holders whose server the others have left. Not judged if nobody was granted meanwhile.
StallFindings deposition_margins(const History& history);

}  // namespace forelock::robustness
