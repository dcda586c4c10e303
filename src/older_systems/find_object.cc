// _dl_find_object() of glibc 2.35. The unwinder of GCC 12, where it is linked statically, finds the frames of an
// exception through it and through nothing else: an address that it does not know is the end of the stack.
#include <dlfcn.h>
#include <elf.h>
#include <link.h>

#include <cstddef>
#include <cstdint>

// The ELF header of the library that this is part of; from the linker.
extern "C" __attribute__((visibility("hidden"))) const ElfW(Ehdr) __ehdr_start;

namespace {

struct Search {
  std::uintptr_t address;
  dl_find_object* result;
};

// \returns whether the address is of this object.
bool look_into(const Search& search, std::uintptr_t base, const ElfW(Phdr) * headers, std::size_t count) {
  bool contains = false;
  void* eh_frame = nullptr;
  std::uintptr_t first = UINTPTR_MAX;
  std::uintptr_t end = 0;
  for (const ElfW(Phdr)* header = headers; header != headers + count; ++header) {
    const std::uintptr_t begin = base + header->p_vaddr;
    if (header->p_type == PT_GNU_EH_FRAME) eh_frame = reinterpret_cast<void*>(begin);
    if (header->p_type != PT_LOAD) continue;
    contains = contains || search.address - begin < header->p_memsz;
    first = begin < first ? begin : first;
    end = begin + header->p_memsz > end ? begin + header->p_memsz : end;
  }
  if (!contains) return false;
  *search.result = {};
  search.result->dlfo_map_start = reinterpret_cast<void*>(first);
  search.result->dlfo_map_end = reinterpret_cast<void*>(end);
  search.result->dlfo_eh_frame = eh_frame;
  return true;
}

int look(dl_phdr_info* info, std::size_t, void* search) {
  const auto& wanted = *static_cast<const Search*>(search);
  return look_into(wanted, info->dlpi_addr, info->dlpi_phdr, info->dlpi_phnum) ? 1 : 0;
}

}  // namespace

extern "C" __attribute__((visibility("hidden"))) int _dl_find_object(void* address, dl_find_object* result) noexcept {
  const Search search{reinterpret_cast<std::uintptr_t>(address), result};
  // Most frames are of this library, and need no lock of the dynamic linker. A shared library's addresses begin at 0.
  const auto base = reinterpret_cast<std::uintptr_t>(&__ehdr_start);
  const auto* headers = reinterpret_cast<const ElfW(Phdr)*>(base + __ehdr_start.e_phoff);
  if (look_into(search, base, headers, __ehdr_start.e_phnum)) return 0;
  return dl_iterate_phdr(look, const_cast<Search*>(&search)) != 0 ? 0 : -1;
}
