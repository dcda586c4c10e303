/* A program of somebody else in C11: built outside this repository's build, against the installed tree alone. */
#include <forelock/c.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failed(const char* what) {
  fprintf(stderr, "%s: %s: %s\n", what, fl_code_name(fl_last_code()), fl_last_message());
  return 1;
}

int main(void) {
  if (fl_check_abi(FL_ABI_VERSION) != FL_OK) return failed("the binary interface");
  if (strcmp(fl_version(), PACKAGE_VERSION) != 0) {
    fprintf(stderr, "the library says %s, the package %s\n", fl_version(), PACKAGE_VERSION);
    return 1;
  }
  const char* servers = getenv("FORELOCK_ZOOKEEPER");
  if (servers == NULL) {
    fputs("FORELOCK_ZOOKEEPER is not set\n", stderr);
    return 1;
  }
  fl_config config = 0;
  fl_client client = 0;
  fl_lock lock = 0;
  if (fl_config_new(&config) != FL_OK || fl_config_set(config, "zookeeper.servers", servers) != FL_OK ||
      fl_client_open(config, 0, &client) != FL_OK ||
      fl_lock_new(client, "Save Content", "P1", FL_FOREGROUND, NULL, &lock) != FL_OK ||
      fl_lock_acquire(lock, 60000) != FL_OK) {
    return failed("acquiring");
  }
  const int64_t token = fl_lock_token(lock);
  if (fl_lock_check_health(lock) != FL_OK || fl_lock_release(lock) != FL_OK) return failed("releasing");
  fl_lock_free(lock);
  fl_client_free(client);
  fl_config_free(config);
  printf("held P1 with token %" PRId64 "\n", token);
  return token > 0 ? 0 : 1;
}
