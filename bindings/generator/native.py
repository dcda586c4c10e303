"""The native methods of Java: their declarations, their C++, and the structures that cross between the two.

A structure crosses as an array of numbers and one of texts, in the order of its members; those of a structure inside
of it stand in its place. What CHECKED, QUIET and VALUES do not name is written by hand, or not needed.
"""

import re

# Throw unless the code is FL_OK. Of the parameters that are to be filled in, at most one, the value is returned, or a
# structure fills in arrays.
CHECKED = """
    config_load config_parse config_get config_set_all client_open client_wait_connected client_get_status
    client_get_times client_close lock_new lock_set_stack lock_acquire_within lock_try_within lock_cancel
    lock_set_priority lock_inside lock_release_async lock_release lock_step_aside lock_watch
    lock_check_health lock_held_header lock_owner lock_get_linger lock_alive set_new inspect_list inspect_show
    inspect_holder inspect_token inspect_force_release view_count view_monitor view_waiter inspect_set view_set
    dlq_flush dlq_get_status runner_new dlq_replay dlq_preview_replay replay_get_report replay_unresolved""".split()
# Never throw: the value that is filled in, else -1 or null; without one whether the code is FL_OK.
QUIET = """
    config_free client_free lock_cancel_async lock_release_detached lock_free lock_get_state set_waits_for view_free
    dlq_free operation_cancel operation_free attempt_succeed attempt_fail runner_free replay_stop replay_free""".split()
# Return no code but a value; an int32_t is a boolean.
VALUES = """
    version lock_is_healthy lock_token lock_expires_at_ns lock_time_left_ns set_size
    attempt_should_stop""".split()
# What an int32_t is that stands for yes or no, by the name of the parameter.
BOOLEANS = {"all", "pending", "was_waiting", "changed", "done", "retryable"}
STRUCTURES = """
    fl_client_status fl_times fl_event fl_lock_options fl_owner fl_monitor fl_waiter fl_holder_token fl_seen_set
    fl_dlq_status fl_runner_options fl_operation_spec fl_failed_attempt fl_replay_options fl_replay_preview fl_letter
    fl_replay_report fl_unresolved_letter""".split()
# Enumerations that are no public ones of Java, and what their names begin with there.
NUMBERS = {"fl_client_flags": "CLIENT_", "fl_times_buckets": "", "fl_event_kind": "EVENT_", "fl_timeout": "",
           "fl_limit": "", "fl_lock_flags": "LOCK_", "fl_lock_events": "ON_", "fl_write_kind": "WRITE_"}

# C type: Java, JNI, how C++ takes it.
SIMPLE = {
    "int32_t": ("int", "jint", "{}"),
    "uint32_t": ("int", "jint", "static_cast<std::uint32_t>({})"),
    "int64_t": ("long", "jlong", "{}"),
    "uint64_t": ("long", "jlong", "static_cast<std::uint64_t>({})"),
    "size_t": ("int", "jint", "static_cast<std::size_t>({})"),
}
BOOLEAN = ("boolean", "jboolean", "({} != JNI_FALSE ? 1 : 0)")
TEXT, TEXTS = "const char*", "const char* const*"
ARRAYS = {"long[]": "jlongArray", "byte[]": "jbyteArray", "byte[][]": "jobjectArray", "byte[][][]": "jobjectArray"}


def camel(name):
    return re.sub("_(.)", lambda letter: letter[1].upper(), name)


def class_name(structure):
    name = camel(structure.removeprefix("fl"))
    return name[:1].upper() + name[1:]


class Layout:
    """Where the members of a structure stand. Numbers and texts are expressions of C++ after the structure's name."""

    def __init__(self, interface, structure):
        self.numbers, self.texts, self.lists, self.places = [], [], [], []
        members = iter(interface.structures[structure])
        for member in members:
            place = member.name.upper()
            if member.type in interface.structures:
                inner = Layout(interface, member.type)
                self.places += [(place, len(self.numbers)), (place + "_TEXTS", len(self.texts))]
                self.numbers += [f"{member.name}.{one}" for one in inner.numbers]
                self.texts += [f"{member.name}.{one}" for one in inner.texts]
            elif member.type == TEXT:
                self.places.append((place, len(self.texts)))
                self.texts.append(member.name)
            elif member.type == TEXTS:  # the next one is their count
                self.places.append((place, len(self.lists)))
                self.lists.append((member.name, next(members).name))
            elif member.type != "const void*" and member.name != "size":
                self.places.append((place, len(self.numbers)))
                count = int(interface.numbers.get(member.count, member.count or 0))
                self.numbers += [f"{member.name}[{i}]" for i in range(count)] if count else [member.name]
        self.reals = {member.name for member in interface.structures[structure] if member.type == "double"}
        self.types = {member.name: member.type for member in interface.structures[structure]}
        self.sized = "size" in self.types
        self.counts = [(name, len(found)) for name, found
                       in (("NUMBERS", self.numbers), ("TEXTS", self.texts), ("LISTS", self.lists)) if found]

    def arrays(self, name):
        """The parameters of Java and JNI."""
        found = [("long[]", name)] if self.numbers else []
        found += [("byte[][]", name + "Texts")] if self.texts else []
        return found + ([("byte[][][]", name + "Lists")] if self.lists else [])


def java_numbers(interface):
    for enumeration, prefix in NUMBERS.items():
        for entry in interface.enumerations[enumeration]:
            name = entry.name.removeprefix("FL_").removeprefix(prefix)
            yield f"static final int {prefix}{name} = {entry.number};"


def java_structures(interface):
    for structure in STRUCTURES:
        layout = Layout(interface, structure)
        yield ""
        yield f"/** Where the members of {structure} stand. */"
        yield f"static final class {class_name(structure)} {{"
        yield from (f"  static final int {name} = {number};" for name, number in layout.places + layout.counts)
        yield "}"


class Method:
    """One native method: how Java declares it, and the C++ behind it."""

    def __init__(self, interface, name, kind):
        function = interface.functions["fl_" + name]
        self.function, self.kind = function, kind
        self.java, self.before, self.arguments, self.filled = [], [], [], None
        self.result = ("void", "void")
        given = list(function.parameters)
        while given:
            self.take(interface, given.pop(0), given)
        if kind == "value":
            self.result = self.value(function.result)
        elif self.filled:
            self.result = self.filled
        elif kind == "quiet":
            self.result = BOOLEAN[:2]

    def value(self, kind):
        if kind == TEXT:
            return "byte[]", "jbyteArray"
        return BOOLEAN[:2] if kind == "int32_t" else SIMPLE[kind][:2]

    def take(self, interface, one, given):
        name, kind = camel(one.name), one.type
        pointed = kind.removesuffix("*").removeprefix("const ")
        if kind in interface.handles:
            self.add("long", "jlong", name, f"static_cast<fl_handle>({name})")
        elif kind in SIMPLE:
            java, jni, cast = BOOLEAN if kind == "int32_t" and one.name in BOOLEANS else SIMPLE[kind]
            self.add(java, jni, name, cast.format(name))
        elif kind == TEXT:
            self.before.append(f"const Text {name}Text(env, {name});")
            self.add("byte[]", "jbyteArray", name, f"{name}Text.c_str()")
            if given and given[0].name == "length":
                given.pop(0)
                self.arguments.append(f"{name}Text.size()")
        elif kind == TEXTS:
            self.before.append(f"const Texts {name}Texts(env, {name});")
            self.add("byte[][]", "jobjectArray", name, f"{name}Texts.data()")
            if given[0].name == "count":
                given.pop(0)
                self.arguments.append(f"{name}Texts.size()")
        elif pointed in interface.structures:
            self.take_structure(Layout(interface, pointed), pointed, name, kind.startswith("const "))
        elif pointed in interface.handles:
            self.fill(("long", "jlong"), "fl_handle filled = 0;", "static_cast<jlong>(filled)")
        elif kind == TEXT + "*":
            self.fill(("byte[]", "jbyteArray"), 'const char* filled = "";', "to_java(env, filled)")
        else:
            boolean = pointed == "int32_t" and one.name in BOOLEANS
            java, jni, _ = BOOLEAN if boolean else SIMPLE[pointed]
            begin = "0" if boolean or self.kind == "checked" else "-1"
            cast = "filled > 0 ? JNI_TRUE : JNI_FALSE" if boolean else f"static_cast<{jni}>(filled)"
            self.fill((java, jni), f"{pointed if pointed == 'size_t' else 'std::' + pointed} filled = {begin};", cast)

    def take_structure(self, layout, structure, name, is_input):
        for java, array in layout.arrays(name):
            self.java.append((java, ARRAYS[java], array))
        held = ", ".join(array for _, array in layout.arrays(name))
        if is_input:
            self.before.append(f"const {class_name(structure)}Given {name}Given(env, {held});")
            self.arguments.append(f"{name}Given.get()")
        else:
            self.before.append(f"{structure} {name}Filled{{}};")
            if layout.sized:
                self.before.append(f"{name}Filled.size = sizeof {name}Filled;")
            self.arguments.append(f"&{name}Filled")
            self.after = f"store(env, {name}Filled, {held});"

    def add(self, java, jni, name, argument):
        self.java.append((java, jni, name))
        self.arguments.append(argument)

    def fill(self, result, before, value):
        self.filled, self.filled_value = result, value
        self.before.append(before)
        self.arguments.append("&filled")

    after = ""
    filled_value = ""

    def name(self):
        return camel(self.function.name.removeprefix("fl_"))

    def declaration(self):
        listed = ", ".join(f"{java} {name}" for java, _, name in self.java)
        return f"static native {self.result[0]} {self.name()}({listed});"

    def body(self):
        call = f"{self.function.name}({', '.join(self.arguments)})"
        if self.kind == "value":
            if self.function.result == TEXT:
                return [f"return to_java(env, {call});"]
            return [f"return {call} != 0 ? JNI_TRUE : JNI_FALSE;" if self.result == BOOLEAN[:2]
                    else f"return static_cast<{self.result[1]}>({call});"]
        if self.kind == "quiet":
            ended = f"{call} == FL_OK"
            if not self.filled:
                return [f"return {ended} ? JNI_TRUE : JNI_FALSE;"]
            return [f"{call};", f"return {self.filled_value};"]
        if self.after:
            return [f"if (check(env, {call})) {self.after}"]
        if self.filled and self.filled[0] == "byte[]":
            return [f"return check(env, {call}) ? {self.filled_value} : nullptr;"]
        return [f"check(env, {call});"] + ([f"return {self.filled_value};"] if self.filled else [])

    def cpp(self):
        listed = "".join(f", {jni} {name}" for _, jni, name in self.java)
        yield f"JNIEXPORT {self.result[1]} JNICALL"
        yield f"Java_org_forelock_Native_{self.name()}(JNIEnv* env, jclass{listed}) {{"
        start, result = ("", "") if self.result[1] == "void" else ("return ", f" -> {self.result[1]}")
        yield f"  {start}guarded(env, [&](){result} {{"
        yield from (f"    {line}" for line in [*self.before, *self.body()])
        yield "  });"
        yield "}"


def methods(interface):
    for kind, names in (("checked", CHECKED), ("quiet", QUIET), ("value", VALUES)):
        for name in names:
            yield Method(interface, name, kind)


def java_methods(interface):
    for method in methods(interface):
        line = method.declaration()
        if len(line) > 116:
            head, tail = line.split("(", 1)
            cut = tail.rindex(", ", 0, 105) + 2 if len(tail) > 110 else 0
            yield head + "("
            yield from ("    " + part.rstrip() for part in (tail[:cut], tail[cut:]) if part)
        else:
            yield line


def cpp_out(structure, layout):
    numbers = ", ".join(f"static_cast<jlong>(of.{one})" for one in layout.numbers)
    yield f"inline std::array<jlong, {len(layout.numbers)}> numbers_of(const {structure}& of) {{"
    yield f"  return {{{numbers}}};"
    yield "}"
    if layout.texts:
        texts = ", ".join(f"of.{one}" for one in layout.texts)
        yield f"inline std::array<const char*, {len(layout.texts)}> texts_of(const {structure}& of) {{"
        yield f"  return {{{texts}}};"
        yield "}"


def cpp_in(structure, layout):
    name = class_name(structure) + "Given"
    arrays = [(ARRAYS[java], array) for java, array in layout.arrays("numbers")]
    yield f"class {name} {{"
    yield " public:"
    listed = ", ".join(f"{jni} {array}" for jni, array in arrays)
    fields = ["numbers_(env, numbers)"] if layout.numbers else []
    fields += ["texts_(env, numbersTexts)"] if layout.texts else []
    fields += [f"{one}_(env, numbersLists, {i})" for i, (one, _) in enumerate(layout.lists)]
    yield f"  {name}(JNIEnv* env, {listed}) : {', '.join(fields)} {{"
    if layout.sized:
        yield "    given_.size = sizeof given_;"
    for index, one in enumerate(layout.numbers):
        value = f"numbers_[{index}]"
        value = f"real_of({value})" if one in layout.reals else f"static_cast<{layout.types[one]}>({value})"
        yield f"    given_.{one} = {value};"
    yield from (f"    given_.{one} = texts_.data()[{index}];" for index, one in enumerate(layout.texts))
    for one, count in layout.lists:
        yield f"    given_.{one} = {one}_.data();"
        yield f"    given_.{count} = {one}_.size();"
    yield "  }"
    yield f"  {name}(const {name}&) = delete;"
    yield f"  {name}& operator=(const {name}&) = delete;"
    yield f"  {structure}* get() {{ return &given_; }}"
    yield f"  const {structure}* get() const {{ return &given_; }}"
    yield " private:"
    yield from ["  const Numbers numbers_;"] if layout.numbers else []
    yield from ["  const Texts texts_;"] if layout.texts else []
    yield from (f"  const Texts {one}_;" for one, _ in layout.lists)
    yield f"  {structure} given_{{}};"
    yield "};"


IN = {"fl_lock_options", "fl_runner_options", "fl_operation_spec", "fl_replay_options"}


def cpp_structures(interface):
    """The header native_structures.h: each structure as arrays, or from arrays."""
    yield "// Structures of the C interface as arrays of Java. Written by bindings/generator/generate.py."
    yield "#pragma once"
    yield "#include <array>"
    yield '#include "jni_support.h"'
    for structure in STRUCTURES:
        if structure not in IN:
            yield from cpp_out(structure, Layout(interface, structure))
    yield "namespace forelock::jni {"
    for structure in STRUCTURES:
        if structure in IN:
            yield from cpp_in(structure, Layout(interface, structure))
    yield "}  // namespace forelock::jni"


def cpp_methods(interface):
    yield "// Native methods of org.forelock.Native. Written by bindings/generator/generate.py."
    yield '#include "native_structures.h"'
    yield "using namespace forelock::jni;"
    yield 'extern "C" {'
    for method in methods(interface):
        yield from method.cpp()
    yield "}"
