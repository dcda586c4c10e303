#include "cli/serve/order_json.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "records/wall_time.h"

namespace forelock::cli {

std::string sentence_of(const OrderWarning& warning) {
  std::string text;
  for (const LockOrder& order : warning) {
    if (!text.empty()) text += &order == &warning.back() ? ", and " : ", ";
    text += order.inner + (text.empty() ? " is locked" : "") + " inside " + order.outer + " by " +
            (order.info.empty() ? order.who : order.info + " (" + order.who + ')');
  }
  return text;
}

nlohmann::ordered_json json_of(const OrderWarning& warning) {
  using Json = nlohmann::ordered_json;
  Json orders = Json::array();
  WallTime last{};
  for (const LockOrder& order : warning) {
    last = std::max(last, order.last_seen);
    orders.push_back({{"outer", order.outer},
                      {"inner", order.inner},
                      {"who", order.who},
                      {"info", order.info},
                      {"first_seen", records::format_wall_time(order.first_seen)},
                      {"last_seen", records::format_wall_time(order.last_seen)},
                      {"looks", order.looks},
                      {"outer_stack", order.outer_stack},
                      {"inner_stack", order.inner_stack}});
  }
  return {{"sentence", sentence_of(warning)}, {"last_seen", records::format_wall_time(last)}, {"orders", orders}};
}

}  // namespace forelock::cli
