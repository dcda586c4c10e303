// What the sanitizers need not report.

extern "C" const char* __lsan_default_suppressions();

// A handle that is closed with requests on their way loses what it keeps about them, transactions above all: some 700
// bytes for each, in the C client itself.
extern "C" const char* __lsan_default_suppressions() {
  return "leak:libzookeeper_mt\n";
}

extern "C" const char* __tsan_default_suppressions();

// The thread checker sees a read of a descriptor as a race with whoever opens or closes it. To look at descriptors that
// are somebody else's is the purpose of descriptor_flags.h. The C client is not built for the checker, which therefore
// misses its atomic operations.
extern "C" const char* __tsan_default_suppressions() {
  return "race:forelock::zookeeper::protect_new_pipes\n"
         "race:forelock::zookeeper::protect_sockets_to\n"
         "race:libzookeeper_mt\n";
}
