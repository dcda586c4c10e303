#include "zookeeper/imported_function.h"

#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string_view>

namespace forelock::zookeeper {

namespace {

struct ImportSearch {
  std::uintptr_t inside;
  std::string_view name;
  void** place = nullptr;
  bool read_only = false;  // the linker has made the place so after it had resolved all
};

std::uintptr_t page_bytes() {
  return static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
}

bool contains_code_at(const dl_phdr_info& object, std::uintptr_t address) {
  for (const ElfW(Phdr)* header = object.dlpi_phdr; header != object.dlpi_phdr + object.dlpi_phnum; ++header) {
    if (header->p_type == PT_LOAD && address - (object.dlpi_addr + header->p_vaddr) < header->p_memsz) return true;
  }
  return false;
}

// The linker protects whole pages: a part of one at the end stays writable.
bool is_read_only(const dl_phdr_info& object, std::uintptr_t address) {
  const std::uintptr_t page = ~(page_bytes() - 1);
  for (const ElfW(Phdr)* header = object.dlpi_phdr; header != object.dlpi_phdr + object.dlpi_phnum; ++header) {
    const std::uintptr_t begin = object.dlpi_addr + header->p_vaddr;
    if (header->p_type != PT_GNU_RELRO) continue;
    if (address >= (begin & page) && address < ((begin + header->p_memsz) & page)) return true;
  }
  return false;
}

// What an object's dynamic section says of its relocations.
struct RelocationTables {
  std::uintptr_t symbols = 0;
  std::uintptr_t strings = 0;
  std::uintptr_t of_calls = 0;
  std::size_t of_calls_bytes = 0;
  std::uintptr_t others = 0;
  std::size_t others_bytes = 0;
};

RelocationTables relocation_tables(const dl_phdr_info& object) {
  RelocationTables tables;
  const ElfW(Dyn)* entry = nullptr;
  for (const ElfW(Phdr)* header = object.dlpi_phdr; header != object.dlpi_phdr + object.dlpi_phnum; ++header) {
    if (header->p_type == PT_DYNAMIC) entry = reinterpret_cast<const ElfW(Dyn)*>(object.dlpi_addr + header->p_vaddr);
  }
  // Some dynamic linkers have added the object's address already, others have not.
  const auto address = [&object](std::uintptr_t value) {
    return value < object.dlpi_addr ? object.dlpi_addr + value : value;
  };
  bool with_addends = false;
  for (; entry != nullptr && entry->d_tag != DT_NULL; ++entry) {
    switch (entry->d_tag) {
      case DT_SYMTAB:
        tables.symbols = address(entry->d_un.d_ptr);
        break;
      case DT_STRTAB:
        tables.strings = address(entry->d_un.d_ptr);
        break;
      case DT_JMPREL:
        tables.of_calls = address(entry->d_un.d_ptr);
        break;
      case DT_PLTRELSZ:
        tables.of_calls_bytes = entry->d_un.d_val;
        break;
      case DT_PLTREL:
        with_addends = entry->d_un.d_val == DT_RELA;
        break;
      case DT_RELA:
        tables.others = address(entry->d_un.d_ptr);
        break;
      case DT_RELASZ:
        tables.others_bytes = entry->d_un.d_val;
        break;
      default:
        break;
    }
  }
  if (!with_addends) tables.of_calls_bytes = 0;
  return tables;
}

std::size_t symbol_of(const ElfW(Rela) & relocation) {
  return sizeof(void*) == 8 ? relocation.r_info >> 32 : relocation.r_info >> 8;
}

int look_for_import(dl_phdr_info* object, std::size_t, void* given) {
  auto& search = *static_cast<ImportSearch*>(given);
  if (!contains_code_at(*object, search.inside)) return 0;
  const RelocationTables tables = relocation_tables(*object);
  if (tables.symbols == 0 || tables.strings == 0) return 1;
  const auto* symbols = reinterpret_cast<const ElfW(Sym)*>(tables.symbols);
  const auto* strings = reinterpret_cast<const char*>(tables.strings);
  const auto look = [&](std::uintptr_t table, std::size_t bytes) {
    const auto* relocation = reinterpret_cast<const ElfW(Rela)*>(table);
    for (std::size_t i = 0; i < bytes / sizeof(*relocation); ++i, ++relocation) {
      const std::size_t symbol = symbol_of(*relocation);
      if (symbol == 0 || search.name != strings + symbols[symbol].st_name) continue;
      search.place = reinterpret_cast<void**>(object->dlpi_addr + relocation->r_offset);
    }
  };
  look(tables.others, tables.others_bytes);
  look(tables.of_calls, tables.of_calls_bytes);
  search.read_only = is_read_only(*object, reinterpret_cast<std::uintptr_t>(search.place));
  return 1;
}

}  // namespace

bool replace_imported_function(const void* inside, const char* name, void* replacement) {
  // Between its two calls of mprotect() no other thread may make the page read-only.
  static std::mutex one_at_a_time;
  const std::lock_guard guard(one_at_a_time);
  ImportSearch search{.inside = reinterpret_cast<std::uintptr_t>(inside), .name = name};
  dl_iterate_phdr(&look_for_import, &search);
  if (search.place == nullptr) return false;
  if (__atomic_load_n(search.place, __ATOMIC_ACQUIRE) == replacement) return true;
  auto* const page = reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(search.place) & ~(page_bytes() - 1));
  if (search.read_only && mprotect(page, page_bytes(), PROT_READ | PROT_WRITE) != 0) return false;
  __atomic_store_n(search.place, replacement, __ATOMIC_RELEASE);
  if (search.read_only) mprotect(page, page_bytes(), PROT_READ);
  return true;
}

}  // namespace forelock::zookeeper
