// The servers, clients and monitors on which the demonstration runs.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "demo/article_store.h"
#include "demo/options.h"
#include "forelock/client.h"

namespace forelock::demo {

struct Site {
  Options options;
  std::vector<std::unique_ptr<Client>> clients;  // one session each: stand-ins for as many machines
  ArticleStore store{options.articles};

  Client& client(std::size_t number) { return *clients[number % clients.size()]; }
  static std::string monitor(std::size_t article) { return "P" + std::to_string(article + 1); }
};

}  // namespace forelock::demo
