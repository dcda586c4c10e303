/* The list of cases that every language of this library passes (docs/embedding.md), in C. */
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What the cases need of the test around them: a ZooKeeper server, and faults. */
typedef struct test_host {
  const char* servers;
  const char* monitor; /* one that no other case uses */
  void* context;
  void (*stall)(void* context, int on);
  /* Ends the session on the server, and cuts its connection. */
  void (*expire)(void* context, int64_t session);
} test_host;

typedef struct named_case {
  const char* name;
  int (*run)(const test_host* host); /* 0: passed; else it has said on standard error what was wrong */
} named_case;

/* Ended by a null name. */
extern const named_case all_cases[];

#ifdef __cplusplus
}
#endif
