// Whose process is at the other end of a connection within this machine.
#pragma once

#include <sys/types.h>

// Asio uses std::exchange without including it, which C++20 no longer does by other ways.
#include <utility>

#include <boost/asio/ip/tcp.hpp>
#include <optional>

namespace forelock::web {

// The user to whom the socket at `remote` belongs, while the connection is up and `remote` is a loopback address;
// nothing for all others, and where the kernel's table cannot be read. It is the user that has made the socket.
std::optional<uid_t> owner_of_peer(const boost::asio::ip::tcp::endpoint& local,
                                   const boost::asio::ip::tcp::endpoint& remote);

}  // namespace forelock::web
