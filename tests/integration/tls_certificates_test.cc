// Servers that show the wrong certificate, or none: what a connection that would reach them says. They are openssl's.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <malloc.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/certificates.h"
#include "support/openssl_server.h"
#include "support/temporary_directory.h"
#include "support/text_of.h"
#include "zookeeper/probe.h"
#include "zookeeper/tls_context.h"

namespace {

// In memory that is given back, while it is not empty; and how often it was there.
std::string_view looked_for;
int times_found = 0;

void look_into(void* memory) {
  if (memory == nullptr || looked_for.empty()) return;
  if (memmem(memory, malloc_usable_size(memory), looked_for.data(), looked_for.size()) != nullptr) ++times_found;
}

}  // namespace

void* operator new(std::size_t size) {
  void* const memory = std::malloc(size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void operator delete(void* memory) noexcept {
  look_into(memory);
  std::free(memory);
}
void operator delete(void* memory, std::size_t /*size*/) noexcept {
  operator delete(memory);
}

namespace forelock::test {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::Not;
using zookeeper::TlsContext;
using zookeeper::TlsOptions;

class TlsCertificatesTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new TemporaryDirectory;
    authority_ = new Authority(folder_->path(), "good");
  }
  static void TearDownTestSuite() {
    delete authority_;
    delete folder_;
  }

  // A server with this certificate, and more of openssl's options.
  void serve(const Identity& identity, const std::vector<std::string>& more = {}) {
    server_.reset();
    server_ = std::make_unique<OpensslServer>(folder_->path(), identity, more);
  }

  Identity issue(const std::string& names) const { return authority_->issue("server", {.names = names}); }

  TlsOptions options() const {
    TlsOptions all;
    all.read = [] { return zookeeper::TlsFiles{.authorities = test::text_of(authority_->certificate())}; };
    return all;
  }

  // Why there is no TLS to it; "none" if there is.
  std::string problem(const TlsOptions& given, const std::string& name = "zk1.example") const {
    const TlsContext context(given);
    return zookeeper::tls_problem("127.0.0.1", server_->port(), 10s, {&context, name}).value_or("none");
  }
  std::string problem() const { return problem(options()); }

  static inline TemporaryDirectory* folder_ = nullptr;
  static inline Authority* authority_ = nullptr;
  std::unique_ptr<OpensslServer> server_;
};

TEST_F(TlsCertificatesTest, TheRightOneIsAccepted) {
  serve(issue("DNS:other.example,DNS:zk1.example"));
  EXPECT_EQ(problem(), "none");
  EXPECT_EQ(problem(options(), "ZK1.example."), "none") << "case and a final dot do not count";
}

TEST_F(TlsCertificatesTest, AnotherName) {
  serve(issue("DNS:evil.example"));
  EXPECT_THAT(problem(), HasSubstr("it shows a certificate for evil.example, not for zk1.example"));
  TlsOptions named = options();
  named.server_names = {"zk9.example", "evil.example"};
  EXPECT_EQ(problem(named), "none");
}

TEST_F(TlsCertificatesTest, WildcardsStandForOneWholeLabel) {
  serve(issue("DNS:*.example.org"));
  EXPECT_EQ(problem(options(), "zk1.example.org"), "none");
  for (const std::string name : {"example.org", "a.zk1.example.org", ".example.org", "zk1.example.org.evil.net"}) {
    EXPECT_THAT(problem(options(), name), HasSubstr("not for")) << name;
  }
  for (const std::string name : {"DNS:zk*.example.org", "DNS:*1.example.org", "DNS:*", "DNS:*.org", "DNS:zk1.*.org",
                                 "DNS:.example.org", "DNS:*.*.org"}) {
    serve(issue(name));
    EXPECT_THAT(problem(options(), "zk1.example.org"), HasSubstr("not for zk1.example.org")) << name;
  }
}

TEST_F(TlsCertificatesTest, TheSubjectIsNoServerName) {
  serve(authority_->issue("zk1.example", {}));
  EXPECT_THAT(problem(), HasSubstr("it shows a certificate for no server name, not for zk1.example"));
}

TEST_F(TlsCertificatesTest, SeveralAuthoritiesInOneFile) {
  const Authority other(folder_->path(), "second");
  serve(issue("DNS:zk1.example"));
  const std::string good = text_of(authority_->certificate());
  const std::string also = text_of(other.certificate());
  for (const std::string& all :
       {also + good, good + also, "of 2025:\n" + also + "\nof 2026:\r\n" + good, good + good}) {
    TlsOptions several;
    several.read = [&all] { return zookeeper::TlsFiles{.authorities = all}; };
    EXPECT_EQ(problem(several), "none");
  }
}

TEST_F(TlsCertificatesTest, AnAuthorityBetween) {
  const Authority between(folder_->path(), "between", *authority_);
  const Identity leaf = between.issue("leaf", {.names = "DNS:zk1.example"});
  serve(leaf);
  EXPECT_THAT(problem(), HasSubstr("a certificate of no authority in the file of zookeeper.tls.ca.file"));
  serve(leaf, {"-cert_chain", between.certificate()});
  EXPECT_EQ(problem(), "none");
  TlsOptions with_lists = options();
  std::string lists = text_of(between.revoke({}));
  with_lists.read = [&lists] {
    return zookeeper::TlsFiles{.authorities = text_of(authority_->certificate()), .revocations = lists};
  };
  EXPECT_THAT(problem(with_lists), HasSubstr("an authority that has no list"));
  lists += text_of(authority_->revoke({}));
  EXPECT_EQ(problem(with_lists), "none");
  lists = text_of(between.revoke({leaf})) + text_of(authority_->revoke({}));
  EXPECT_THAT(problem(with_lists), HasSubstr("it shows a certificate that is revoked"));
  // Signed by one that may sign nothing.
  const Identity end = authority_->issue("end", {.names = "DNS:zk1.example"});
  const Identity below = between.issue("below", {.names = "DNS:zk1.example"});
  serve(below, {"-cert_chain", end.certificate});
  EXPECT_THAT(problem(), HasSubstr("a certificate of no authority"));
}

TEST_F(TlsCertificatesTest, AddressesAreNoNames) {
  serve(issue("IP:127.0.0.1"));
  EXPECT_EQ(problem(options(), "127.0.0.1"), "none");
  EXPECT_THAT(problem(options(), "::ffff:127.0.0.1"), HasSubstr("not for"));
  EXPECT_EQ(problem(options(), "127.1"), "none") << "the same in another spelling";
  EXPECT_THAT(problem(options(), "127.0.0.2"), HasSubstr("a certificate for 127.0.0.1, not for 127.0.0.2"));
  EXPECT_THAT(problem(), HasSubstr("not for zk1.example"));
  serve(issue("DNS:127.0.0.1"));
  EXPECT_THAT(problem(options(), "127.0.0.1"), HasSubstr("not for 127.0.0.1"));
  serve(issue("IP:2001:db8::1"));
  EXPECT_EQ(problem(options(), "2001:db8::1"), "none");
  EXPECT_EQ(problem(options(), "2001:DB8:0:0:0:0:0:1"), "none");
  EXPECT_THAT(problem(options(), "2001:db8::2"), HasSubstr("a certificate for 2001:db8::1, not for 2001:db8::2"));
}

TEST_F(TlsCertificatesTest, AnotherAuthority) {
  const Authority other(folder_->path(), "other");
  serve(other.issue("server", {.names = "DNS:zk1.example"}), {"-cert_chain", other.certificate()});
  EXPECT_THAT(problem(), HasSubstr("a certificate of no authority in the file of zookeeper.tls.ca.file"));
  // As the system, or the environment, might trust it.
  ASSERT_EQ(setenv("SSL_CERT_FILE", other.certificate().c_str(), 1), 0);
  ASSERT_EQ(setenv("SSL_CERT_DIR", folder_->path().c_str(), 1), 0);
  EXPECT_THAT(problem(), HasSubstr("a certificate of no authority in the file of zookeeper.tls.ca.file"));
  unsetenv("SSL_CERT_FILE");
  unsetenv("SSL_CERT_DIR");
}

TEST_F(TlsCertificatesTest, Expired) {
  serve(authority_->issue("server", {.names = "DNS:zk1.example", .expired = true}));
  EXPECT_THAT(problem(), HasSubstr("it shows a certificate that has expired"));
}

TEST_F(TlsCertificatesTest, Revoked) {
  const Identity good = authority_->issue("good", {.names = "DNS:zk1.example"});
  const Identity bad = authority_->issue("bad", {.names = "DNS:zk1.example"});
  const std::string list = test::text_of(authority_->revoke({bad}));
  TlsOptions with_list = options();
  with_list.read = [&list] {
    return zookeeper::TlsFiles{.authorities = test::text_of(authority_->certificate()), .revocations = list};
  };
  serve(bad);
  EXPECT_EQ(problem(), "none");
  EXPECT_THAT(problem(with_list), HasSubstr("it shows a certificate that is revoked"));
  serve(good);
  EXPECT_EQ(problem(with_list), "none");
  const Authority other(folder_->path(), "elsewhere");
  with_list.read = [of_other = test::text_of(other.revoke({}))] {
    return zookeeper::TlsFiles{.authorities = test::text_of(authority_->certificate()), .revocations = of_other};
  };
  EXPECT_THAT(problem(with_list), HasSubstr("of an authority that has no list in the file of zookeeper.tls.crl.file"));
  with_list.read = [late = text_of(authority_->revoke({}, true))] {
    return zookeeper::TlsFiles{.authorities = text_of(authority_->certificate()), .revocations = late};
  };
  EXPECT_THAT(problem(with_list), HasSubstr("the list in the file of zookeeper.tls.crl.file has expired"));
}

TEST_F(TlsCertificatesTest, TooOldAProtocol) {
  serve(issue("DNS:zk1.example"), {"-tls1_1", "-cipher", "ALL:@SECLEVEL=0"});
  EXPECT_THAT(problem(), HasSubstr("it speaks no TLS version that zookeeper.tls.min.version allows"));
  serve(issue("DNS:zk1.example"), {"-tls1_2"});
  EXPECT_EQ(problem(), "none");
  TlsOptions newer = options();
  newer.min_version = zookeeper::TlsVersion::tls_1_3;
  EXPECT_THAT(problem(newer), HasSubstr("it speaks no TLS version that zookeeper.tls.min.version allows"));
}

TEST_F(TlsCertificatesTest, NoCertificateAtAll) {
  serve(issue("DNS:zk1.example"), {"-nocert", "-tls1_2", "-cipher", "aNULL:@SECLEVEL=0"});
  EXPECT_THAT(problem(), Not("none"));
}

// SIGPIPE would end a host program that does not know of it.
TEST_F(TlsCertificatesTest, AServerThatHasGoneRaisesNoSignal) {
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends), 0);
  close(ends[1]);
  {
    const auto channel = TlsContext(options()).open(ends[0], "zk1", {"zk1.example"});
    EXPECT_EQ(channel->handshake(), -1);
    EXPECT_THAT(channel->problem(), HasSubstr("it has ended the connection in the TLS handshake"));
  }
  close(ends[0]);
}

// Messages go to terminals and logs.
TEST_F(TlsCertificatesTest, NamesAreShownAsPlainText) {
  serve(issue("DNS:evil\\\x1b[2Jexample"));
  const std::string text = problem();
  EXPECT_THAT(text, HasSubstr("not for zk1.example"));
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
}

TEST_F(TlsCertificatesTest, FilesThatCannotBeUsed) {
  const auto said = [this](const zookeeper::TlsFiles& files) {
    TlsOptions all;
    all.read = [files] { return files; };
    try {
      TlsContext(all).check();
    } catch (const std::exception& found) {
      return std::string(found.what());
    }
    return std::string("nothing");
  };
  const std::string authority = test::text_of(authority_->certificate());
  const Identity one = authority_->issue("one", {});
  const Identity two = authority_->issue("two", {.password = "open sesame"});
  EXPECT_THAT(said({.authorities = "x"}), HasSubstr("zookeeper.tls.ca.file has no certificate in PEM"));
  EXPECT_THAT(said({.authorities = authority, .certificate = "x", .key = "x"}),
              HasSubstr("zookeeper.tls.certificate.file has no certificate in PEM"));
  EXPECT_THAT(said({.authorities = authority, .certificate = test::text_of(one.certificate), .key = "x"}),
              HasSubstr("zookeeper.tls.key.file has no private key in PEM"));
  EXPECT_THAT(
      said({.authorities = authority, .certificate = test::text_of(two.certificate), .key = test::text_of(one.key)}),
      HasSubstr("zookeeper.tls.key.file does not belong to the certificate"));
  EXPECT_THAT(
      said({.authorities = authority, .certificate = test::text_of(two.certificate), .key = test::text_of(two.key)}),
      HasSubstr("is encrypted: name its password's file in zookeeper.tls.key.password.file"));
  const std::string wrong = said({.authorities = authority,
                                  .certificate = test::text_of(two.certificate),
                                  .key = test::text_of(two.key),
                                  .key_password = "close sesame"});
  EXPECT_THAT(wrong, HasSubstr("cannot be read with the password of zookeeper.tls.key.password.file"));
  EXPECT_THAT(wrong, Not(HasSubstr("sesame")));
  EXPECT_EQ(said({.authorities = authority,
                  .certificate = test::text_of(two.certificate),
                  .key = test::text_of(two.key),
                  .key_password = "open sesame"}),
            "nothing");
  EXPECT_THAT(said({.authorities = authority, .revocations = "x"}), HasSubstr("has no revocation list in PEM"));
}

// As a file is that is being written, or was pasted together: what stands before must not pass for the whole.
TEST_F(TlsCertificatesTest, FilesThatEndTooEarly) {
  const auto said = [](const zookeeper::TlsFiles& files) {
    TlsOptions all;
    all.read = [files] { return files; };
    try {
      TlsContext(all).check();
    } catch (const std::exception& found) {
      return std::string(found.what());
    }
    return std::string("nothing");
  };
  const std::string authority = text_of(authority_->certificate());
  const Identity own = authority_->issue("own", {});
  const std::string certificate = text_of(own.certificate);
  const std::string key = text_of(own.key);
  const std::string list = text_of(authority_->revoke({}));
  const auto half = [](const std::string& text) { return text.substr(0, text.size() / 2); };
  const auto damaged = [](std::string text) {
    text.replace(text.find('\n') + 10, 4, "!!!!");
    return text;
  };
  for (const auto& broken : {half(authority), damaged(authority)}) {
    EXPECT_THAT(said({.authorities = broken}), HasSubstr("zookeeper.tls.ca.file"));
    EXPECT_THAT(said({.authorities = authority + broken}),
                HasSubstr("zookeeper.tls.ca.file has a damaged certificate"));
    EXPECT_THAT(said({.authorities = authority, .certificate = certificate + broken, .key = key}),
                HasSubstr("zookeeper.tls.certificate.file has a damaged certificate"));
  }
  EXPECT_THAT(said({.authorities = authority, .revocations = list + half(list)}),
              HasSubstr("zookeeper.tls.crl.file has a damaged revocation list"));
  EXPECT_EQ(said({.authorities = authority, .certificate = certificate, .key = key, .revocations = list}), "nothing");
  EXPECT_EQ(said({.authorities = key + authority, .certificate = key + certificate, .key = certificate + key}),
            "nothing")
      << "one file with everything is usual";
}

TEST_F(TlsCertificatesTest, MemoryThatIsGivenBackHasNoSecrets) {
  const std::string password = "a password that is too long to stand in the string itself";
  const Identity own = authority_->issue("secret", {.password = password});
  zookeeper::TlsFiles files{.authorities = text_of(authority_->certificate()),
                            .certificate = text_of(own.certificate),
                            .key = text_of(own.key),
                            .key_password = password};
  const std::string other = text_of(authority_->issue("another", {}).certificate);
  for (const std::string& certificate : {files.certificate, other, std::string("x")}) {
    files.certificate = certificate;
    for (const std::string& secret : {password, files.key.substr(200, 40)}) {
      zookeeper::TlsFiles given = files;
      TlsOptions all;
      all.read = [&given] { return std::move(given); };
      const TlsContext context(all);
      looked_for = secret;
      try {
        context.check();
      } catch (const std::exception& problem) {
        EXPECT_THAT(problem.what(), HasSubstr("file of zookeeper.tls."));
      }
      looked_for = {};
      EXPECT_EQ(std::exchange(times_found, 0), 0) << (secret == password ? "the password" : "the key");
    }
  }
}

}  // namespace
}  // namespace forelock::test
