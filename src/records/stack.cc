#include "records/stack.h"

#include <cxxabi.h>
#include <dlfcn.h>
#include <unwind.h>

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string_view>
#include <unordered_map>

namespace forelock::records {
namespace {

constexpr std::size_t longest_function_name = 200;  // templates can be very long
constexpr std::size_t remembered_addresses = 4096;

struct Walk {
  CapturedStack stack;
  std::size_t skip = 0;
};

_Unwind_Reason_Code visit(_Unwind_Context* context, void* argument) {
  auto& walk = *static_cast<Walk*>(argument);
  const _Unwind_Ptr address = _Unwind_GetIP(context);
  if (address == 0) return _URC_END_OF_STACK;
  if (walk.skip > 0) {
    --walk.skip;
    return _URC_NO_REASON;
  }
  walk.stack.frames[walk.stack.depth++] = reinterpret_cast<void*>(address);
  return walk.stack.depth < max_stack_depth ? _URC_NO_REASON : _URC_END_OF_STACK;
}

std::string hex(std::uintptr_t value) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  do {
    text.insert(text.begin(), digits[value & 0xF]);
    value >>= 4;
  } while (value != 0);
  return "0x" + text;
}

std::string demangled(const char* symbol) {
  struct Free {
    void operator()(char* text) const { std::free(text); }  // NOLINT: __cxa_demangle uses malloc
  };
  int status = 0;
  const std::unique_ptr<char, Free> name(abi::__cxa_demangle(symbol, nullptr, nullptr, &status));
  return std::string(status == 0 && name ? name.get() : symbol).substr(0, longest_function_name);
}

std::string describe(void* address) {
  const auto value = reinterpret_cast<std::uintptr_t>(address);
  Dl_info info{};
  // A return address can lie behind the last instruction of its function: one byte before is inside the call.
  if (dladdr(reinterpret_cast<void*>(value - 1), &info) == 0 || info.dli_fname == nullptr) return hex(value);
  const std::string_view path = info.dli_fname;
  const std::string module(path.substr(path.rfind('/') + 1));
  if (info.dli_sname == nullptr) return module + '+' + hex(value - reinterpret_cast<std::uintptr_t>(info.dli_fbase));
  return demangled(info.dli_sname) + '+' + hex(value - reinterpret_cast<std::uintptr_t>(info.dli_saddr)) + " (" +
         module + ')';
}

// The same few places lock again and again. A module that was unloaded and replaced keeps its old names: for people
// only.
class NameCache {
 public:
  std::string name_of(void* address) {
    {
      const std::shared_lock guard(mutex_);
      if (const auto found = names_.find(address); found != names_.end()) return found->second;
    }
    std::string name = describe(address);
    const std::unique_lock guard(mutex_);
    if (names_.size() >= remembered_addresses) names_.clear();
    names_.emplace(address, name);
    return name;
  }

 private:
  std::shared_mutex mutex_;
  std::unordered_map<void*, std::string> names_;
};

NameCache& name_cache() {
  static auto& cache = *new NameCache;  // never destroyed: threads may lock until the very end of the process
  return cache;
}

}  // namespace

// Must be a frame of its own, since it counts its own frames out.
[[gnu::noinline]] CapturedStack capture_stack(std::size_t skip) {
  Walk walk;
  walk.skip = skip + 2;  // this function and its caller
  _Unwind_Backtrace(visit, &walk);
  return walk.stack;
}

std::vector<std::string> symbolise(const CapturedStack& stack) {
  std::vector<std::string> names;
  names.reserve(stack.depth);
  for (std::size_t i = 0; i < stack.depth; ++i) names.push_back(name_cache().name_of(stack.frames[i]));
  return names;
}

}  // namespace forelock::records
