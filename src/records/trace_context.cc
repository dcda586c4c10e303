#include <algorithm>
#include <span>

#include "forelock/tracing.h"
#include "records/hex_text.h"

namespace forelock {
namespace {

constexpr std::size_t trace_id_at = 3;
constexpr std::size_t span_id_at = 36;
constexpr std::size_t flags_at = 53;
constexpr std::size_t traceparent_bytes = 55;
constexpr std::string_view impossible_version = "ff";

// Lower-case digits alone: the rest is not traceparent.
std::optional<unsigned> digit_of(char character) {
  if (character >= '0' && character <= '9') return static_cast<unsigned>(character - '0');
  if (character >= 'a' && character <= 'f') return static_cast<unsigned>(character - 'a') + 10;
  return std::nullopt;
}

bool read_hex(std::string_view text, std::span<std::uint8_t> bytes) {
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const auto high = digit_of(text[2 * i]);
    const auto low = digit_of(text[2 * i + 1]);
    if (!high || !low) return false;
    bytes[i] = static_cast<std::uint8_t>(*high << 4U | *low);
  }
  return true;
}

bool all_zero(std::span<const std::uint8_t> bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](std::uint8_t byte) { return byte == 0; });
}

}  // namespace

std::optional<TraceContext> TraceContext::parse(std::string_view traceparent) {
  // A later version may have more behind a further dash.
  if (traceparent.size() < traceparent_bytes) return std::nullopt;
  const bool longer = traceparent.size() > traceparent_bytes;
  if (longer && (traceparent.starts_with("00") || traceparent[traceparent_bytes] != '-')) return std::nullopt;
  for (const std::size_t dash : {trace_id_at - 1, span_id_at - 1, flags_at - 1}) {
    if (traceparent[dash] != '-') return std::nullopt;
  }
  TraceContext context;
  std::array<std::uint8_t, 1> version{};
  std::array<std::uint8_t, 1> flags{};
  if (!read_hex(traceparent, version) || traceparent.starts_with(impossible_version)) return std::nullopt;
  if (!read_hex(traceparent.substr(trace_id_at), context.trace_id) || all_zero(context.trace_id)) return std::nullopt;
  if (!read_hex(traceparent.substr(span_id_at), context.span_id) || all_zero(context.span_id)) return std::nullopt;
  if (!read_hex(traceparent.substr(flags_at), flags)) return std::nullopt;
  context.sampled = (flags[0] & 1U) != 0;
  return context;
}

std::string TraceContext::traceparent() const {
  return "00-" + records::hex_text(trace_id) + '-' + records::hex_text(span_id) + (sampled ? "-01" : "-00");
}

}  // namespace forelock
