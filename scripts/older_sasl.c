/* The part of libsasl2 that Kafka's client calls, for what is given away (scripts/older_system.sh): the machine's own
   libsasl2 is called where it has one, and where it has none, Kerberos alone is missing (PLAIN and SCRAM are Kafka's
   client's own). It cannot be linked in: its mechanisms are modules that are loaded into it. */
#include <dlfcn.h>
#include <sasl/sasl.h>
#include <stddef.h>

static void* machines(const char* name) {
  void* library = dlopen("libsasl2.so.2", RTLD_NOW | RTLD_LOCAL);                        /* of Debian */
  if (library == NULL) library = dlopen("libsasl2.so.3", RTLD_NOW | RTLD_LOCAL);         /* of Fedora */
  return library == NULL ? NULL : dlsym(library, name);
}

/* FUNCTION(result, name, parameters, arguments, what it returns where there is none) */
#define FUNCTION(RESULT, NAME, PARAMETERS, ARGUMENTS, OTHERWISE)               \
  RESULT NAME PARAMETERS {                                                     \
    RESULT(*const own) PARAMETERS = (RESULT(*) PARAMETERS)machines(#NAME);     \
    return own == NULL ? OTHERWISE : own ARGUMENTS;                            \
  }

/* Asked when a client starts, whether it wants SASL or not: to have none is no failure yet. */
FUNCTION(int, sasl_client_init, (const sasl_callback_t* callbacks), (callbacks), SASL_OK)
FUNCTION(int, sasl_client_new,
         (const char* service, const char* server, const char* local, const char* remote,
          const sasl_callback_t* prompts, unsigned given, sasl_conn_t** made),
         (service, server, local, remote, prompts, given, made), SASL_NOMECH)
FUNCTION(int, sasl_client_start,
         (sasl_conn_t * connection, const char* mechanisms, sasl_interact_t** prompt, const char** out,
          unsigned* length, const char** mechanism),
         (connection, mechanisms, prompt, out, length, mechanism), SASL_NOMECH)
FUNCTION(int, sasl_client_step,
         (sasl_conn_t * connection, const char* in, unsigned in_length, sasl_interact_t** prompt, const char** out,
          unsigned* length),
         (connection, in, in_length, prompt, out, length), SASL_NOMECH)
FUNCTION(const char*, sasl_errstring, (int code, const char* languages, const char** language),
         (code, languages, language), "libsasl2 is not on this machine")
FUNCTION(const char*, sasl_errdetail, (sasl_conn_t * connection), (connection), "libsasl2 is not on this machine")
FUNCTION(int, sasl_getprop, (sasl_conn_t * connection, int number, const void** value), (connection, number, value),
         SASL_NOMECH)
FUNCTION(int, sasl_listmech,
         (sasl_conn_t * connection, const char* user, const char* prefix, const char* separator, const char* suffix,
          const char** result, unsigned* length, int* count),
         (connection, user, prefix, separator, suffix, result, length, count), SASL_NOMECH)

void sasl_dispose(sasl_conn_t** connection) {
  void (*const own)(sasl_conn_t**) = (void (*)(sasl_conn_t**))machines("sasl_dispose");
  if (own != NULL) own(connection);
}
