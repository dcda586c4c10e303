"""The C interface as its headers declare it: enumerations, structures and functions."""

import re
from dataclasses import dataclass

HEADERS = ["c_result.h", "c.h", "c_inspector.h", "c_operation.h", "c_replay.h", "c_set.h"]
RETRYABLE = "; retryable"
ENUMERATION = re.compile(r"^enum(?: (fl_\w+))? \{(.*?)\};", re.MULTILINE | re.DOTALL)
ENTRY = re.compile(r"((?:^ +/// .*\n)*)^ *(FL_\w+) = (-?\d+),? *(?:///< (.*))?$((?:\n +///< .*)*)", re.MULTILINE)
STRUCTURE = re.compile(r"^typedef struct (fl_\w+) \{\n(.*?)^\} \1;", re.MULTILINE | re.DOTALL)
MEMBER = re.compile(r"^ +([\w ]+?(?:\* const\*|\*)?) ?(\w+)(?:\[(\w+)\])?;", re.MULTILINE)
HANDLE = re.compile(r"^typedef (?:uint64_t|fl_handle) (fl_\w+);", re.MULTILINE)
FUNCTION = re.compile(r"^FORELOCK_EXPORT ([\w ]+\*?) ?(fl_\w+)\(([^)]*)\);", re.MULTILINE)
PARAMETER = re.compile(r"(.*?[*\s])(\w+)$")


@dataclass(frozen=True)
class Entry:
    """One number of an enumeration."""

    name: str  # FL_LOCK_TIMEOUT
    number: int
    text: str  # its documentation, in one line

    @property
    def retryable(self):
        return self.text.endswith(RETRYABLE)


@dataclass(frozen=True)
class Variable:
    """A member of a structure, or a parameter of a function."""

    type: str  # "const char*"
    name: str
    count: str = ""  # of an array: a number, or its name


@dataclass(frozen=True)
class Function:
    result: str
    name: str
    parameters: tuple


class Interface:
    """What the headers, read one after the other, declare."""

    def __init__(self, text):
        self.enumerations = {name: entries(body) for name, body in ENUMERATION.findall(text)}
        self.structures = {name: tuple(Variable(kind.strip(), member, count) for kind, member, count
                                       in MEMBER.findall(without_comments(body)))
                           for name, body in STRUCTURE.findall(text)}
        self.handles = set(HANDLE.findall(text))
        self.functions = {name: Function(result.strip(), name, parameters(listed))
                          for result, name, listed in FUNCTION.findall(text)}
        self.numbers = {entry.name: entry.number for found in self.enumerations.values() for entry in found}


def read(folder):
    """Of the folder include/forelock."""
    return Interface("\n".join((folder / name).read_text(encoding="utf-8") for name in HEADERS))


def without_comments(text):
    return re.sub(r"//.*", "", text)


def entries(body):
    found = []
    for before, name, number, text, after in ENTRY.findall(body):
        lines = [line.strip().lstrip("/<").strip() for line in [*before.splitlines(), text, *after.splitlines()]]
        found.append(Entry(name, int(number), " ".join(line for line in lines if line)))
    return tuple(found)


def parameters(listed):
    if listed.strip() == "void":
        return ()
    pairs = (PARAMETER.match(" ".join(one.split())) for one in listed.split(","))
    return tuple(Variable(pair[1].strip(), pair[2]) for pair in pairs)
