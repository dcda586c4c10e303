// The frame of every test: GoogleTest, the standard library, and the names from both that tests use everywhere.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/standard.h"

namespace forelock {

using std::chrono::milliseconds, std::chrono::seconds, std::chrono::steady_clock;
using std::literals::chrono_literals::operator""h, std::literals::chrono_literals::operator""min,
    std::literals::chrono_literals::operator""s, std::literals::chrono_literals::operator""ms,
    std::literals::chrono_literals::operator""us, std::literals::chrono_literals::operator""ns;
using std::literals::string_literals::operator""s, std::literals::string_view_literals::operator""sv;
using testing::AllOf, testing::AnyOf, testing::Contains, testing::ContainsRegex, testing::Each, testing::ElementsAre,
    testing::EndsWith, testing::Field, testing::HasSubstr, testing::IsEmpty, testing::MatchesRegex, testing::Not,
    testing::Pair, testing::SizeIs, testing::StartsWith, testing::UnorderedElementsAre;
}  // namespace forelock
