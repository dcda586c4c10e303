#include "forelock/owner_record.h"

#include <algorithm>
#include <charconv>

#include "records/holder_json.h"
#include "records/json_text.h"
#include "records/record_reader.h"
#include "records/wall_time.h"

namespace forelock {
namespace {

// Everything but the holder's times fits in here, so that they can be added to any record later.
constexpr std::size_t body_limit = OwnerRecord::max_record_bytes - records::holder_times_bytes;

// How many bytes each text may take once escaped; all of it where a record is small, which is the normal case.
struct Room {
  std::size_t guid = body_limit;
  std::size_t set = body_limit;
  std::size_t instance = body_limit;
  std::size_t lock_info = body_limit;
  std::size_t members = body_limit;  // of the set, and
  std::size_t frames = body_limit;   // of the stack: a number, not bytes
};

void append_number(std::int64_t number, std::string& out) {
  char digits[24];
  const auto end = std::to_chars(digits, digits + sizeof digits, number).ptr;
  out.append(digits, end);
}

void append_member(std::string_view name_and_colon, std::string_view text, std::size_t limit, std::string& out) {
  out += name_and_colon;
  out += '"';
  records::append_json_text(text, out, limit);
  out += '"';
}

// The members behind the holder's times, and the closing brace.
void append_body(const OwnerRecord& record, const Room& room, std::string& out) {
  if (record.by_wish) out += "\"byWish\":true,";
  out += "\"enqueuedAt\":\"";
  records::append_wall_time(record.enqueued_at, out);
  out += '"';
  if (record.expected_runtime) {
    out += ",\"expectedRuntimeMs\":";
    append_number(record.expected_runtime->count(), out);
  }
  if (record.fencing_token) {
    out += ",\"fencingToken\":";
    append_number(*record.fencing_token, out);
  }
  append_member(",\"guid\":", record.guid, room.guid, out);
  append_member(",\"instance\":", record.instance, room.instance, out);
  if (record.linger) {
    out += ",\"lingerMs\":";
    append_number(record.linger->count(), out);
  }
  append_member(",\"lockInfo\":", record.lock_info, room.lock_info, out);
  if (record.max_wait) {
    out += ",\"maxWaitMs\":";
    append_number(record.max_wait->count(), out);
  }
  append_member(",\"priority\":", name_of(record.priority), body_limit, out);
  if (record.rank) append_member(",\"rank\":", name_of(*record.rank), body_limit, out);
  if (record.set_size > 0) {
    append_member(",\"set\":", record.set, room.set, out);
    const std::size_t members = std::min(room.members, record.set_members.size());
    for (std::size_t i = 0; i < members; ++i) {
      append_member(i == 0 ? ",\"setMembers\":[" : ",", record.set_members[i], body_limit, out);
    }
    out += members > 0 ? "],\"setSize\":" : ",\"setSize\":";
    append_number(static_cast<std::int64_t>(record.set_size), out);
  }
  const std::size_t frames = std::min(room.frames, record.stack.size());
  for (std::size_t i = 0; i < frames; ++i) {
    append_member(i == 0 ? ",\"stack\":[" : ",", record.stack[i], body_limit, out);
  }
  if (frames > 0) out += ']';
  if (record.wish) append_member(",\"wish\":", name_of(*record.wish), body_limit, out);
  out += '}';
}

std::size_t raw_size(const OwnerRecord& record) {
  std::size_t size = record.guid.size() + record.set.size() + record.instance.size() + record.lock_info.size();
  for (const std::string& frame : record.stack) size += frame.size();
  for (const std::string& member : record.set_members) size += member.size();
  return size;
}

std::size_t escaped_size(std::string_view text, std::size_t limit) {
  std::string escaped;
  records::append_json_text(text, escaped, limit);
  return escaped.size();
}

// Deals the bytes out by importance: what identifies the holder, then what for, then the members of its set, then the
// stack from the inside out.
Room room_for(const OwnerRecord& record) {
  constexpr std::size_t quotes_and_comma = 3;
  constexpr std::size_t longest_escape = 6;  // a frame that is cut is seen to be too long
  std::string frame_of_record;
  append_body(record, {0, 0, 0, 0, 0, 0}, frame_of_record);
  std::size_t left = body_limit - frame_of_record.size() - 1;  // 1: the opening brace
  const auto take = [&left](std::string_view text) {
    const std::size_t taken = escaped_size(text, left);
    left -= taken;
    return taken;
  };
  Room room;
  room.guid = take(record.guid);
  room.set = take(record.set);
  room.instance = take(record.instance);
  room.lock_info = take(record.lock_info);
  // How many of the texts fit into an array of this name.
  const auto take_some = [&left](std::string_view array, const std::vector<std::string>& texts) {
    std::size_t taken = 0;
    if (left < array.size()) return taken;
    left -= array.size();
    for (const std::string& text : texts) {
      const std::size_t size = escaped_size(text, left + longest_escape) + quotes_and_comma;
      if (size > left) break;
      left -= size;
      ++taken;
    }
    return taken;
  };
  room.members = record.set_size > 0 ? take_some(",\"setMembers\":[]", record.set_members) : 0;
  room.frames = take_some(",\"stack\":[]", record.stack);
  return room;
}

}  // namespace

std::string OwnerRecord::to_json() const {
  std::string json;
  const std::size_t raw = raw_size(*this);
  json.reserve(std::min(raw, body_limit) + 512);
  json += '{';
  records::append_holder_times(acquired_at, alert_at, auto_unlock_at, json);
  const std::size_t body = json.size();
  if (raw <= body_limit) append_body(*this, {}, json);
  if (raw > body_limit || json.size() - body >= body_limit) {
    json.resize(body);
    append_body(*this, room_for(*this), json);
  }
  return json;
}

std::optional<OwnerRecord> OwnerRecord::from_json(std::string_view json) {
  return records::read_record(json);
}

}  // namespace forelock
