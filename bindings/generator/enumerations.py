"""Enumerations of the C interface in the other languages. Each function gives the lines of a place, without
the indentation of the whole."""

OF_C_ALONE = 1001  # error codes from here on are of the C interface alone


class Wanted:
    """The entries of one enumeration that a place is to have, with their names there."""

    def __init__(self, interface, enumeration, prefix, without=()):
        known = interface.enumerations[enumeration]
        self.entries = [(entry.name.removeprefix(prefix), entry) for entry in known]
        missing = set(without) - {name for name, _ in self.entries}
        if missing or any(not entry.name.startswith(prefix) for entry in known):
            raise ValueError(f"{enumeration} has no {', '.join(missing) or prefix}")
        self.entries = [(name, entry) for name, entry in self.entries if name not in without]


def sentence(text):
    return text[:1].upper() + text[1:].removesuffix(".") + "."


def cpp(wanted):
    """The enumerators of C++; those of the C interface alone are left out."""
    entries = [(name.lower(), entry) for name, entry in wanted.entries if entry.number < OF_C_ALONE]
    heads = [f"{name} = {entry.number}" + ("," if entry is not entries[-1][1] else "") for name, entry in entries]
    width = max(map(len, heads))
    return [f"{head.ljust(width)}  ///< {entry.text}" for head, (_, entry) in zip(heads, entries)]


def cpp_names(wanted, enumeration, variable):
    """A switch over the C++ enumeration that returns the names."""
    yield f"switch ({variable}) {{"
    for name, entry in wanted.entries:
        if entry.number < OF_C_ALONE:
            yield f"  case {enumeration}::{name.lower()}:"
            yield f'    return "{name.lower()}";'
    yield "}"


def cpp_retryable(wanted, enumeration, variable):
    """A switch over the C++ enumeration that returns whether the code is retryable."""
    yield f"switch ({variable}) {{"
    yield from (f"  case {enumeration}::{name.lower()}:" for name, entry in wanted.entries if entry.retryable)
    yield from ("    return true;", "  default:", "    return false;", "}")


def java(wanted, number):
    """The constants of a Java enumeration. `number`: each has its number, and whether it is retryable."""
    numbers = [entry.number for _, entry in wanted.entries]
    if not number and (numbers[0] not in (0, 1) or numbers != list(range(numbers[0], numbers[-1] + 1))):
        raise ValueError("a Java enumeration counts by itself")
    for name, entry in wanted.entries:
        arguments = f"({entry.number}, {'true' if entry.retryable else 'false'})" if number else ""
        text = sentence(entry.text)
        while "`" in text:
            text = text.replace("`", "{@code ", 1).replace("`", "}", 1)
        yield f"/** {text} */"
        yield f"{name}{arguments}" + ("," if entry is not wanted.entries[-1][1] else ";")


def python(wanted):
    for name, entry in wanted.entries:
        yield f"#: {sentence(entry.text)}"
        yield f"{name} = {entry.number}"
