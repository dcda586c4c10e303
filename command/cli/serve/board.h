// A Board is the site that `serve` shows: the last picture, its age, and what follows from them.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/serve/acts.h"
#include "cli/serve/back_room.h"
#include "cli/serve/history/history.h"
#include "cli/serve/letter_count.h"
#include "cli/serve/picture.h"
#include "cli/serve/unlocker.h"
#include "forelock/client.h"
#include "web/server.h"
#include "web/site.h"

namespace forelock::cli {

// For the server's thread alone. An old picture is still shown, with its age, and never as the present.
class Board final : public web::Site {
 public:
  // The client must outlive it.
  explicit Board(const Client& client) : client_(client) {}

  // Where its events go; set before the server is started.
  void publish_through(web::Server& server) { server_ = &server; }
  // What looking has cost; set before the server is started.
  void show_look(const LookCounts& counts) { look_counts_ = &counts; }
  // Whose numbers it shows; set before the server is started.
  void show_unlocker(const Unlocker& unlocker) { unlocker_ = &unlocker; }

  void take(std::shared_ptr<const Picture> picture, const std::vector<web::Event>& events);
  void fail(std::string problem);
  // Who does what admins ask for; set before the server is started.
  void act_through(Acts& acts) { acts_ = &acts; }
  // What answers for the past; set before the server is started.
  void remember_through(History& history) { history_ = &history; }
  // What is shown of dead letters, and of this audit file, is read there; without `letters` no letter is. Set before
  // the server is started.
  void read_through(BackRoom& back_room, std::optional<Acts::Letters> letters, std::string audit_file);
  // Why there is no history just now; empty if there is.
  void tell_history_problem(std::string problem);
  // An event of the stream.
  void tell_unlocked(const std::string& monitor, const HolderView& holder, const std::string& reason);

  bool answer_later(const web::Request& request, const std::function<void(web::Response)>& answer) override;
  web::Response answer(const web::Request& request) override;
  void act(const web::Request& request, std::function<void(web::Response)> answer) override;
  web::Event snapshot() override;
  void tick() override;

 private:
  bool live() const;
  // What is looked for in the back room; nothing if that is not the question.
  std::function<web::Response()> search_for(const web::Request& request) const;
  // {"live","age_ms","problem"}, and what `json` has.
  nlohmann::ordered_json dated(nlohmann::ordered_json json) const;
  // The same of an answer: with "event", the id of the last event of the stream.
  nlohmann::ordered_json answered(nlohmann::ordered_json json) const;
  void tell_status();
  // An answer that follows from the picture alone: made once for it, however many ask. `key` tells it from others.
  web::Response of_picture(const std::string& key, const std::function<nlohmann::ordered_json()>& make) const;
  web::Response not_read(const std::vector<std::string>& path) const;
  web::Response monitors(const std::string& query) const;
  web::Response monitor(const std::string& id, const std::string& query, bool with_sessions) const;
  // {"acts","who","csrf"}: whether there are acts, and what an admin needs for them.
  web::Response admin(const web::Request& request) const;
  web::Response chains() const;
  web::Response orders() const;
  web::Response ready() const;
  web::Response metrics() const;

  const Client& client_;
  web::Server* server_ = nullptr;
  const LookCounts* look_counts_ = nullptr;
  const Unlocker* unlocker_ = nullptr;
  Acts* acts_ = nullptr;
  History* history_ = nullptr;
  std::string history_problem_;
  BackRoom* back_room_ = nullptr;
  std::optional<Acts::Letters> letters_;
  std::optional<LetterCount> letter_count_;  // with letters_
  std::string audit_file_;
  std::shared_ptr<const Picture> picture_;                     // nothing before the first
  mutable std::map<std::string, std::string> made_;            // of of_picture()
  std::string problem_ = "the servers have not answered yet";  // of the last look; empty if it succeeded
  std::string told_;                                           // the status that the streams have been told
};

}  // namespace forelock::cli
