// Maps a server's refusals to the exceptions that callers get; no other code does.
#pragma once

#include <string>
#include <string_view>

#include "coordination/reply_code.h"

namespace forelock::client {

// The reason in words, e.g. "the connection was lost before the reply came".
std::string_view reason_of(coordination::ReplyCode code);

// `what` begins the message: "cannot read monitor P1" becomes "cannot read monitor P1: the access control list …".
[[noreturn]] void throw_reply_error(coordination::ReplyCode code, const std::string& monitor, std::string what);

}  // namespace forelock::client
