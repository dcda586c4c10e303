// The result of a function of the C interface: its code, and the rest of the error for the calling thread.
#pragma once

#include <cstdint>
#include <exception>
#include <stdexcept>
#include <string>

#include "forelock/c.h"
#include "forelock/error.h"

namespace forelock::capi {

// What the C interface tells of a failure.
struct Failure {
  std::int32_t code = FL_OK;
  std::string monitor;
  std::string message;
  std::string hint;
};

// A handle that stands for nothing (any more), or for something else.
class InvalidHandle : public std::exception {
 public:
  const char* what() const noexcept override { return "the handle is invalid: freed, of another kind, or no handle"; }
};

// The program was compiled with headers that this library does not serve.
class AbiMismatch : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Of the exception, which must not be null. \throws std::bad_alloc.
Failure failure_of(const std::exception_ptr& error);

// Keeps the exception that is being handled as the calling thread's last failure. \returns its code.
std::int32_t fail() noexcept;
const Failure& last_failure() noexcept;

// Throws RequestRejectedException(invalid_argument) unless `valid`.
void require(bool valid, const char* problem);
// The text of an argument. \throws as require() for null.
std::string text_of(const char* text, const char* name);
inline std::string text_or_empty(const char* text) {
  return text == nullptr ? std::string() : std::string(text);
}
// A result is stored through it. \throws as require() for null.
template <class T>
T& target(T* result) {
  require(result != nullptr, "the pointer to the result is null");
  return *result;
}

// Runs the body of a function; nothing that it throws gets out.
template <class Body>
std::int32_t run(Body&& body) noexcept {
  try {
    body();
    return FL_OK;
  } catch (...) {
    return fail();
  }
}

}  // namespace forelock::capi
