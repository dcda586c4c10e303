#include "support/certificates.h"

#include <sys/wait.h>

#include <fstream>
#include <stdexcept>
#include <utility>

#include "support/text_of.h"

namespace forelock::test {
namespace {

void close_to_others(const std::filesystem::path& path) {
  std::filesystem::permissions(path, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
}

}  // namespace

Authority::Authority(std::filesystem::path folder, const std::string& name)
    : Authority(std::move(folder), name, nullptr) {}

Authority::Authority(std::filesystem::path folder, const std::string& name, const Authority& above)
    : Authority(std::move(folder), name, &above) {}

Authority::Authority(std::filesystem::path folder, const std::string& name, const Authority* above)
    : folder_(std::move(folder)), name_(name), certificate_(file("ca.pem")) {
  std::vector<std::string> make = {
      "openssl", "req",        "-x509",        "-newkey", "ec",         "-pkeyopt", "ec_paramgen_curve:prime256v1",
      "-nodes",  "-keyout",    file("ca.key"), "-out",    certificate_, "-days",    "3650",
      "-subj",   "/CN=" + name};
  if (above != nullptr) make.insert(make.end(), {"-CA", above->certificate_, "-CAkey", above->file("ca.key")});
  run(std::move(make));
  std::ofstream(file("index.txt"));
  std::ofstream(file("ca.cnf")) << "[ca]\ndefault_ca=only\n[only]\ndatabase=" << file("index.txt").string()
                                << "\ndefault_md=sha256\ndefault_crl_days=30\ncrlnumber=" << file("crlnumber").string()
                                << "\n";
  std::ofstream(file("crlnumber")) << "01\n";
}

Identity Authority::issue(const std::string& name, const IdentityOptions& options) const {
  const std::filesystem::path request = file(name + ".csr");
  const std::filesystem::path key = file(name + ".key.new");
  const std::filesystem::path certificate = file(name + ".pem.new");
  std::ofstream(file("extensions")) << "keyUsage=digitalSignature\n"
                                    << (options.names.empty() ? "" : "subjectAltName=" + options.names + "\n");
  std::vector<std::string> make = {
      "openssl", "req", "-new", "-newkey", "ec",    "-pkeyopt",   "ec_paramgen_curve:prime256v1",
      "-keyout", key,   "-out", request,   "-subj", "/CN=" + name};
  if (options.password.empty()) {
    make.emplace_back("-nodes");
  } else {
    make.insert(make.end(), {"-passout", "pass:" + options.password});
  }
  run(std::move(make));
  std::vector<std::string> sign = {"openssl",      "x509",
                                   "-req",         "-in",
                                   request,        "-CA",
                                   certificate_,   "-CAkey",
                                   file("ca.key"), "-CAcreateserial",
                                   "-days",        "365",
                                   "-extfile",     file("extensions"),
                                   "-out",         certificate};
  if (options.expired) sign.insert(sign.begin(), {"faketime", "2 years ago"});
  run(std::move(sign));
  close_to_others(key);
  const Identity identity{file(name + ".pem"), file(name + ".key")};
  std::filesystem::rename(key, identity.key);
  std::filesystem::rename(certificate, identity.certificate);
  return identity;
}

std::filesystem::path Authority::revoke(const std::vector<Identity>& revoked, bool expired) const {
  const std::vector<std::string> ca = {"openssl", "ca",         "-config",  file("ca.cnf"),
                                       "-cert",   certificate_, "-keyfile", file("ca.key")};
  for (const Identity& identity : revoked) {
    std::vector<std::string> command = ca;
    command.insert(command.end(), {"-revoke", identity.certificate});
    run(std::move(command));
  }
  std::vector<std::string> command = ca;
  const std::filesystem::path list = file("crl.pem");
  command.insert(command.end(), {"-gencrl", "-out", list});
  if (expired) command.insert(command.begin(), {"faketime", "2 years ago"});
  run(std::move(command));
  return list;
}

void Authority::run(std::vector<std::string> command) const {
  const std::filesystem::path output = file("openssl.log");
  const int status = ChildProcess(std::move(command), output).wait();
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) throw std::runtime_error("openssl failed: " + text_of(output));
}

std::filesystem::path joined(const Identity& identity) {
  const std::filesystem::path both = identity.key.string() + ".pem";
  std::ofstream(both) << text_of(identity.key) << text_of(identity.certificate);
  close_to_others(both);
  return both;
}

}  // namespace forelock::test
