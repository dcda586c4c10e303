// The file descriptors with which the program was started: a child gets these and no others.
#pragma once

#include <vector>

namespace forelock::cli {

class InheritedDescriptors {
 public:
  // Looks at what is open now: make it before anything is opened.
  InheritedDescriptors();

  // Marks everything that was opened since to be closed at exec: sockets of libraries, whatever they thought of.
  void close_others_on_exec() const;

 private:
  std::vector<int> inherited_;
};

}  // namespace forelock::cli
