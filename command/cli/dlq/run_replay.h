// Does what `forelock dlq replay --execute` is asked for.
#pragma once

#include <optional>
#include <string>

#include "cli/command.h"
#include "cli/dlq/command_target.h"
#include "drain/open_store.h"
#include "drain/replayer.h"
#include "http/http_client.h"

namespace forelock::cli {

struct OpenSearchServer {
  http::ServerUrl url;
  http::HttpOptions options;
};

struct ReplayRequest {
  drain::ReplayOptions options;
  drain::StoreKind kind = drain::StoreKind::configured;
  std::string command;  // one of these three is not empty
  std::string topic;
  std::optional<OpenSearchServer> opensearch;
  TargetInput input = TargetInput::record;  // of the command
  std::string which;                        // the filter's options, for the audit line
};

// The first signal lets what runs come to its end and begins nothing more, the second kills what runs. \returns the
// exit code: 0 if every letter that matched was replayed, 1 if some failed, were parked or wait behind those, 75 if
// only some must wait for a later replay, 128+n if signal n stopped it. \throws Error, FailureException.
int run_replay(const ReplayRequest& request, const Settings& settings, const Context& context);

}  // namespace forelock::cli
