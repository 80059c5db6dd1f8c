"""Constants kept in a file's resource section, moved to where they are used.

The bindings cannot read ``dense_resource<key>`` attributes, so the text is changed before it is parsed: each becomes
``dense<"0x...">`` with the data of its blob. Only plain string search touches the data, which may be hundreds of
megabytes; a regular expression crawls there.
"""

import math
import re

from ipu_mlir.dialects.support.diagnostics import DiagnosedError, Diagnostic

_USE = "dense_resource<"
_ALIGNMENT_DIGITS = 8  # a blob begins with its alignment, four bytes little endian
_STRING = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"')
_TYPE_AFTER = re.compile(r"\s*:\s*(?:tensor|vector|memref)<([^<>,]*(?:complex<\w+>)?)")
_TYPE_BEFORE = re.compile(r"memref<([^<>,]*(?:complex<\w+>)?)")
_ELEMENT = re.compile(r"((?:\d+x)*)(\w+(?:<\w+>)?)\s*$")


def inline_resources(text: str, name: str) -> str:
    """``text`` with its ``dense_resource`` constants as ``dense`` ones; the very same text where there are none.

    Args:
        name: file name for error messages.

    Raises:
        DiagnosedError: at each use whose blob is missing, elided, or of another size than the type needs.
    """
    if _USE not in text:
        return text
    section = _section(text)
    blobs = _blobs(text, section) if section >= 0 else {}
    end = section if section >= 0 else len(text)
    pieces: list[str] = []
    errors: list[Diagnostic] = []
    done = 0
    while (at := text.find(_USE, done, end)) >= 0:
        closing = text.find(">", at, end)
        line_start = text.rfind("\n", 0, at) + 1
        if closing < 0:
            break  # the parser says what is missing
        if _is_quoted(text[line_start:at]):
            behind = at + len(_USE)
            pieces.append(text[done:behind])
            done = behind
            continue
        key = text[at + len(_USE) : closing].strip().strip('"')
        try:
            data = _data(key, blobs, text, at, closing + 1)
        except ValueError as error:
            errors.append(Diagnostic(str(error), name, text.count("\n", 0, at) + 1, at - line_start + 1))
            data = ""
        pieces += [text[done:at], data]
        done = closing + 1
    if errors:
        raise DiagnosedError(errors)
    keeps_section = section >= 0 and "external_resources" in text[section : section + 200]
    return "".join([*pieces, text[done:] if keeps_section else text[done:end]])


def _section(text: str) -> int:
    """Where the resource section begins; -1 if there is none."""
    at = text.rfind("{-#")
    while at >= 0 and _is_quoted(text[text.rfind("\n", 0, at) + 1 : at]):
        at = text.rfind("{-#", 0, at)
    return at


def _is_quoted(before: str) -> bool:
    """True if what follows ``before``, the beginning of a line, stands in a comment or in a string."""
    if "//" not in before and '"' not in before:
        return False
    outside = _STRING.sub("", before)
    return "//" in outside or '"' in outside


def _blobs(text: str, section: int) -> dict[str, tuple[int, int]]:
    """Key of each blob in the resource section -> range of its hexadecimal digits in ``text``, alignment included."""
    found: dict[str, tuple[int, int]] = {}
    at = section
    while (opening := text.find('"0x', at)) >= 0:
        closing = text.find('"', opening + 1)
        if closing < 0:
            break  # the file ends inside a blob; whoever uses it learns that it is missing
        before = text[max(at, opening - 1000) : opening].rstrip().removesuffix(":").rstrip()
        key = before[max(before.rfind(mark) for mark in "{,\n") + 1 :].strip().strip('"')
        found[key] = (opening + 3, closing)
        at = closing + 1
    return found


def _data(key: str, blobs: dict[str, tuple[int, int]], text: str, at: int, after: int) -> str:
    """The ``dense`` attribute for the use of ``key`` that stands at ``at`` and ends before ``after``."""
    if key == "__elided__":
        raise ValueError("this constant's values were left out when the file was printed; print it without a limit")
    if key not in blobs:
        raise ValueError(f"the file holds no data for resource '{key}': it is truncated, or lost its resource section")
    first, last = blobs[key]
    first += _ALIGNMENT_DIGITS
    shape = _shape(text, at, after)
    if shape is None:
        return f'dense<"0x{text[first:last]}">'
    elements, element_type = shape
    needed = elements * _bytes_of(element_type)
    if needed != (last - first) / 2:
        have = max(0, last - first) / 2
        raise ValueError(f"resource '{key}' holds {have:g} bytes, but {elements} x {element_type} need {needed}")
    if elements == 0:
        return "dense<>"
    return f'dense<"0x{text[first:last]}">'


def _shape(text: str, at: int, after: int) -> tuple[int, str] | None:
    """Number and type of the elements of the constant, from the type behind it or, for a global, before it."""
    match = _TYPE_AFTER.match(text, after, after + 1000)
    if match is None:
        line = text[text.rfind("\n", 0, at) + 1 : at]
        match = next(iter(reversed(list(_TYPE_BEFORE.finditer(line)))), None)
    element = _ELEMENT.match(match.group(1)) if match else None
    if element is None:
        return None
    return math.prod(int(size) for size in element.group(1).split("x")[:-1]), element.group(2)


def _bytes_of(element_type: str) -> int:
    """Bytes of one element in a blob, where what is smaller takes a whole byte."""
    if element_type.startswith("complex<"):
        return 2 * _bytes_of(element_type[len("complex<") : -1])
    if element_type == "index":
        return 8
    digits = re.search(r"\d+", element_type)
    return -(-int(digits.group()) // 8) if digits else 1
