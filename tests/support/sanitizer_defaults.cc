// What the leak detector need not report.

extern "C" const char* __lsan_default_suppressions();

// A handle that is closed with requests on their way loses what it keeps about them, transactions above all: some 700
// bytes for each, in the C client itself.
extern "C" const char* __lsan_default_suppressions() { return "leak:libzookeeper_mt\n"; }
