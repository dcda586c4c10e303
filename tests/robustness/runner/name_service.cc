// A library for LD_PRELOAD: the names below "forelock.test" are this machine, as long as the file that the environment
// variable FORELOCK_NAMES names does not say "fail" or "hang": then nobody answers, at once or after a while.
#include <dlfcn.h>
#include <netdb.h>
#include <poll.h>

#include "support/standard.h"

namespace {

constexpr std::string_view domain = ".forelock.test";
constexpr int name_service_time_out_ms = 1000;

using GetAddrInfo = int(const char*, const char*, const addrinfo*, addrinfo**);

}  // namespace

extern "C" __attribute__((visibility("default"))) int getaddrinfo(const char* name, const char* service,
                                                                  const addrinfo* hints, addrinfo** result) {
  static auto* const real = reinterpret_cast<GetAddrInfo*>(dlsym(RTLD_NEXT, "getaddrinfo"));
  if (name == nullptr || !std::string_view(name).ends_with(domain)) return real(name, service, hints, result);
  std::string answer;
  if (const char* file = std::getenv("FORELOCK_NAMES")) std::ifstream(file) >> answer;
  if (answer == "hang") poll(nullptr, 0, name_service_time_out_ms);
  if (answer == "hang" || answer == "fail") return EAI_AGAIN;
  return real("127.0.0.1", service, hints, result);
}
