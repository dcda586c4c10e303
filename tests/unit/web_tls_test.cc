// TLS of the web server, where a client says too little. What a whole client sees: serve_tls_test.py.
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/certificates.h"
#include "support/plain_line.h"
#include "support/temporary_directory.h"
#include "web/server.h"

namespace forelock::web {
namespace {

using std::chrono::milliseconds;

class SilentSite final : public Site {
 public:
  Response answer(const Request&) override { return {}; }
  void act(const Request&, std::function<void(Response)> answer) override { answer({}); }
  Event snapshot() override { return {}; }
  void tick() override {}
};

std::string text_of_file(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

class WebTls : public testing::Test {
 protected:
  TlsText text() const { return {text_of_file(identity_.certificate), text_of_file(identity_.key), {}}; }

  test::TemporaryDirectory directory_;
  test::Authority authority_{directory_.path(), "ca"};
  test::Identity identity_ = authority_.issue("server", {.names = "DNS:localhost"});
  SilentSite site_;
};

TEST_F(WebTls, HalfAHandshakeEndsWithTheTimeOfAHeader) {
  ServerOptions options;
  options.patience = milliseconds(200);
  options.tls = [this] { return text(); };
  Server server(std::move(options), site_);
  server.start();
  for (const std::string& begin : {std::string(), std::string("\x16"), std::string("\x16\x03\x01\x02\x00\x01", 6)}) {
    test::PlainLine line(server.port());
    line.send(begin);
    EXPECT_EQ(line.rest(), "") << begin.size() << " bytes, and silence";
  }
}

TEST_F(WebTls, WhatCannotBeUsedIsSaid) {
  const TlsText good = text();
  const TlsText other{good.certificate, text_of_file(authority_.issue("other", {}).key), {}};
  for (const TlsText& bad : {TlsText{"", good.key, {}}, TlsText{good.certificate, "", {}}, other,
                             TlsText{good.certificate, good.key, "no PEM"}}) {
    ServerOptions options;
    options.tls = [bad] { return bad; };
    EXPECT_THROW(Server(std::move(options), site_), std::runtime_error);
  }
}

}  // namespace
}  // namespace forelock::web
