"""Text of a program, a profile or a file name where it is shown: always one line, never more than text.

Names, locations and messages come from whoever wrote the program. A line break in one would end a comment, an escape
sequence would steer the terminal, and marks for right-to-left script would show another text than there is.
"""

import keyword
import re

_OTHER = re.compile(r"[^a-zA-Z0-9_]+")
_LONGEST = 60


def printable(text: str, most: int | None = None) -> str:
    r"""``text`` with an escape in place of every character that cannot be seen, cut at ``most`` characters.

    >>> printable("a\x1b[31m\nb\u202e é")
    'a\\x1b[31m\\nb\\u202e é'
    >>> printable("jit(main)/layer/0", most=8)
    'jit(mai…'
    """
    if most is not None and len(text) > most:
        text = text[: most - 1] + "…"
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in text)


def printable_lines(text: str) -> str:
    """``text`` that has lines of our own making, with every line printable."""
    return "\n".join(map(printable, text.split("\n")))


def in_docstring(text: str) -> str:
    r'''``text`` as part of a string of Python between triple quotes.

    >>> in_docstring('f"""\\')
    'f\\"\\"\\"\\\\'
    '''
    return printable(text, 200).replace("\\", "\\\\").replace('"', '\\"')


def mlir_string(text: str) -> str:
    r"""``text`` as a string in MLIR.

    >>> mlir_string('a "é"')
    '"a \\22\\C3\\A9\\22"'
    """
    bytes_as_written = (chr(b) if 32 <= b < 127 and b not in b'"\\\\' else f"\\{b:02X}" for b in text.encode())
    return f'"{"".join(bytes_as_written)}"'


def identifier(text: str) -> str:
    """A name of Python close to ``text``: ASCII, so that no two names that look unlike are one to Python.

    >>> identifier("layer.0/bias"), identifier("3d"), identifier("class"), identifier("__x__"), identifier("\u00b5")
    ('layer_0_bias', '_3d', '_class', 'x__', 'unnamed')
    """
    name = _OTHER.sub("_", text)[:_LONGEST]
    if name.startswith("__"):
        name = name.lstrip("_")
    if name in ("", "_"):
        return "unnamed"
    return f"_{name}" if name[0].isdigit() or keyword.iskeyword(name) else name
