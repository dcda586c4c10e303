/// \file
/// Marks what the library exports; everything else has hidden visibility.
#pragma once

#if defined(__GNUC__)
#define FORELOCK_EXPORT __attribute__((visibility("default")))
#else
#define FORELOCK_EXPORT
#endif
