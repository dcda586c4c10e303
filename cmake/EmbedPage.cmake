# cmake -D OUTPUT=FILE.cc -D FILES=a;b -P EmbedPage.cmake: the files as a C++ source that defines page_files().
set(entries "")
set(arrays "")
set(number 0)
foreach(file IN LISTS FILES)
  cmake_path(GET file FILENAME name)
  cmake_path(GET file EXTENSION LAST_ONLY extension)
  if(extension STREQUAL ".html")
    set(type "text/html; charset=utf-8")
  elseif(extension STREQUAL ".css")
    set(type "text/css; charset=utf-8")
  elseif(extension STREQUAL ".js")
    set(type "text/javascript; charset=utf-8")
  else()
    message(FATAL_ERROR "${file}: of which type is it?")
  endif()
  file(READ "${file}" bytes HEX)
  string(REGEX REPLACE "(..)" "'\\\\x\\1'," bytes "${bytes}")
  string(APPEND arrays "constexpr char page_file_${number}[] = {${bytes}'\\0'};\n")
  string(APPEND entries "      {\"${name}\", \"${type}\", {page_file_${number}, sizeof page_file_${number} - 1}},\n")
  math(EXPR number "${number} + 1")
endforeach()
file(WRITE "${OUTPUT}" "#include \"cli/serve/page_files.h\"

namespace forelock::cli {
namespace {

${arrays}
}  // namespace

const std::vector<PageFile>& page_files() {
  static const std::vector<PageFile> files = {
${entries}  };
  return files;
}

}  // namespace forelock::cli
")
