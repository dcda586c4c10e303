#include "cli/failure.h"

#include <utility>

#include "cli/exit_code.h"
#include "forelock/error.h"

namespace forelock::cli {
namespace {

int exit_code_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::lock_timeout:
    case ErrorCode::lock_unavailable:
    case ErrorCode::lock_refused:
    case ErrorCode::cancelled:
      return exit_not_in_time;
    case ErrorCode::lock_unhealthy:
    case ErrorCode::not_held:
      return exit_lock_lost;
    case ErrorCode::not_authorized:
      return exit_not_authorized;
    case ErrorCode::configuration:
      return exit_configuration;
    case ErrorCode::invalid_argument:
    case ErrorCode::request_too_large:
      return exit_usage;
    case ErrorCode::no_node:
    case ErrorCode::write_conflict:
    case ErrorCode::handler_failed:
    case ErrorCode::kafka_rejected:
    case ErrorCode::record_invalid:
    case ErrorCode::record_too_new:
      return exit_failed;
    case ErrorCode::session_expired:
    case ErrorCode::connection_loss:
    case ErrorCode::quota_exceeded:
    case ErrorCode::server_error:
    case ErrorCode::kafka_unavailable:
    case ErrorCode::overloaded:
      return exit_unavailable;
    case ErrorCode::outbox_full:
    case ErrorCode::outbox_unavailable:
      return exit_output;
    case ErrorCode::already_held:
    case ErrorCode::closed:
    case ErrorCode::forked:
    case ErrorCode::internal:
      break;
  }
  return exit_internal;
}

}  // namespace

void throw_usage(std::string message, std::string hint) {
  throw FailureException({exit_usage, "usage", std::move(message), std::move(hint), {}, false, {}});
}

Failure failure_of(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const FailureException& failure) {
    return failure.failure();
  } catch (const ConfigurationException& configuration) {
    return {
        exit_configuration,      std::string(name_of(ErrorCode::configuration)), configuration.what(), {}, {}, false,
        configuration.problems()};
  } catch (const Error& e) {
    return {exit_code_of(e.code()), std::string(name_of(e.code())), e.what(), e.hint(), e.monitor(), e.retryable(), {}};
  } catch (const std::exception& e) {
    return {exit_internal, std::string(name_of(ErrorCode::internal)), e.what(), {}, {}, false, {}};
  } catch (...) {
    return {exit_internal, std::string(name_of(ErrorCode::internal)), "an unknown error", {}, {}, false, {}};
  }
}

}  // namespace forelock::cli
