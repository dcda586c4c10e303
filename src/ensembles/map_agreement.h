// A MapAgreement sees to it that no two clients find a monitor in different ensembles.
//
// Each ensemble has a node with the map (MapRecord). A client that finds another map serves no lock. Where there is no
// node it makes one, as a proposal, and only when it has looked at every ensemble and found no other map. It serves a
// lock once it has seen its own map in all of them: then a client with another map cannot have seen its own in all of
// those that the two have in common. It also says in the nodes that all of them have the map, so that later clients
// need not reach all of them: an ensemble whose node says so is enough for the locks that live there.
//
// Not covered: nodes that are changed by hand while clients run, and maps that have no ensemble in common.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "ensembles/ensemble_map.h"
#include "ensembles/map_record.h"

namespace forelock::ensembles {

// What is wrong with a map that a client has found, for people. Nothing if it is that of the client.
std::optional<std::string> difference(const EnsembleMap& ours, std::size_t ensemble, const std::string& found);
// The same for a client of one ensemble, which makes no such node.
std::optional<std::string> difference(const std::string& identity, const std::string& found);

// Pure: no I/O, threads, clock or randomness. Not thread-safe. The driver does what next_step() says, one step of an
// ensemble at a time, and tells what came of it.
class MapAgreement {
 public:
  explicit MapAgreement(EnsembleMap map);

  const EnsembleMap& map() const { return map_; }

  // For a client that only looks: no node is made or changed. What an ensemble has may be looked at as soon as no other
  // map has been found.
  void only_look() { only_looks_ = true; }

  // --- what came of it ---

  // The node as it was read, and its version; nothing: there is none.
  void saw(std::size_t ensemble, const std::optional<std::string>& data, int version = 0);
  void made(std::size_t ensemble);
  // By another client; the node has to be looked at again.
  void changed(std::size_t ensemble);
  void marked(std::size_t ensemble);

  // --- what is known ---

  enum class Step {
    none,
    look,  // read the node
    make,  // create it, with data()
    mark   // write data() over the version that was read; it does no harm if that fails
  };
  Step next_step(std::size_t ensemble) const;
  std::string data(std::size_t ensemble) const;
  int version(std::size_t ensemble) const { return sights_[ensemble].version; }

  // Whether locks of this ensemble may be served.
  bool may_serve(std::size_t ensemble) const;
  bool differs(std::size_t ensemble) const { return sights_[ensemble].sight == Sight::other; }
  // Why no lock may be asked for: some ensemble has another map.
  std::optional<std::string> refusal() const;
  // The ensembles in which no map has been seen.
  std::vector<std::size_t> not_seen() const;

 private:
  enum class Sight { unknown, absent, proposed, agreed, other };
  struct Ensemble {
    Sight sight = Sight::unknown;
    int version = 0;
    std::string refusal;  // other: why
  };

  bool any(Sight sight) const;
  void seen_in_all();

  const EnsembleMap map_;
  std::vector<Ensemble> sights_;
  bool only_looks_ = false;
  bool in_all_ = false;  // this client has seen its map in all of them
};

}  // namespace forelock::ensembles
