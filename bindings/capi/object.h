// An Object is what a handle of the C interface stands for.
#pragma once

namespace forelock::capi {

// The first byte of a handle, so that a handle of one kind is never taken for another.
enum class Kind : unsigned char { config = 1, client, lock, view, dlq, runner, operation, attempt, set, replay };

class Object {
 public:
  virtual ~Object() = default;
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;

  Kind kind() const { return kind_; }

 protected:
  explicit Object(Kind kind) : kind_(kind) {}

 private:
  const Kind kind_;
};

}  // namespace forelock::capi
