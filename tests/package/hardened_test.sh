#!/usr/bin/env bash
# Libraries and programs that are given away were compiled and linked with hardening, and are stripped; of any
# architecture: hardened_test.sh FILE...
set -euo pipefail

[[ $# -gt 0 ]] || { echo "no file is given"; exit 1; }
failed=no
for file in "$@"; do
  said=$(readelf --wide --file-header --program-headers --section-headers --dynamic --dyn-syms "$file")
  # must PATTERN WHAT
  must() { grep -qE -e "$1" <<<"$said" || { echo "$file: $2"; failed=yes; }; }
  must_not() { ! grep -qE -e "$1" <<<"$said" || { echo "$file: $2"; failed=yes; }; }
  must '^ +Type: +DYN ' "it is not position independent"
  must '^ +GNU_RELRO ' "what the dynamic linker has written can be written to (-z relro)"
  must '\((FLAGS|FLAGS_1|BIND_NOW)\).*(BIND_NOW|NOW)' "functions are looked up late (-z now)"
  must '^ +GNU_STACK .* RW +0x' "the stack can be executed"
  must_not '^ +LOAD .* RWE ' "memory can be written to and executed"
  must_not '\(TEXTREL\)' "its code is changed when it is loaded"
  must_not '\((RPATH|RUNPATH)\)' "it says where libraries are looked for"
  must ' __stack_chk_fail(@| |$)' "the stack is not guarded (-fstack-protector-strong)"
  # A library so small that it writes no text may call nothing whose lengths are known: blhc tells of its compilation.
  if grep -qE ' UND (__)?v?(f|d|s|sn|as)?printf(_chk)?(@| |$)' <<<"$said"; then
    must ' __[a-z]+_chk(@| |$)' "lengths are not checked (-D_FORTIFY_SOURCE=2)"
  fi
  must_not '\.symtab ' "it is not stripped"
done
[[ $failed == no ]]
