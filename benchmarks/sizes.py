"""Programs in other sizes than those they are written for.

A program that can be resized names its sizes in a comment, ``// sizes: batch = 32``. The number then means the size in
every tensor shape and every list of indices; a scalar constant that depends on a size says so at the end of its line:
``arith.constant 3.125e-02 : f32  // = 1 / batch``.
"""

import re
from collections.abc import Mapping

_SIZES = re.compile(r"^// sizes: (.*)$", re.MULTILINE)
_SHAPE = re.compile(r"(?<=tensor<)\d+(?:x\d+)*(?=x)")
_LIST = re.compile(r"(?<=\[)\d+(?:, \d+)*(?=\])")
_CONSTANT = re.compile(r"(?<=arith\.constant )\S+(?= : f32  // = (1 / )?(\w+)$)", re.MULTILINE)


def sizes_of(text: str) -> dict[str, int]:
    """The sizes that the program ``text`` names.

    >>> sizes_of("// sizes: rows = 4, columns = 6")
    {'rows': 4, 'columns': 6}
    """
    found = _SIZES.search(text)
    pairs = (pair.split(" = ") for pair in found[1].split(", ")) if found else ()
    return {name: int(value) for name, value in pairs}


def resize(text: str, sizes: Mapping[str, int]) -> str:
    """The program ``text`` with new ``sizes``; sizes that are not named stay.

    Raises:
        ValueError: the program has no such size.

    >>> print(resize("// sizes: rows = 4\\n%0 = tensor.empty() : tensor<4x6xf32>", {"rows": 12}))
    // sizes: rows = 12
    %0 = tensor.empty() : tensor<12x6xf32>
    """
    old = sizes_of(text)
    unknown = sorted(set(sizes) - set(old))
    if unknown:
        raise ValueError(f"the program has no size {', '.join(unknown)}; its sizes are {', '.join(old) or 'fixed'}")
    new = {**old, **sizes}
    numbers = {str(old[name]): str(new[name]) for name in old}

    def numbers_in(match: re.Match[str]) -> str:
        return re.sub(r"\d+", lambda number: numbers.get(number[0], number[0]), match[0])

    def constant(match: re.Match[str]) -> str:
        reciprocal, name = match.groups()
        return repr(1 / new[name] if reciprocal else float(new[name]))

    text = _CONSTANT.sub(constant, _LIST.sub(numbers_in, _SHAPE.sub(numbers_in, text)))
    return _SIZES.sub("// sizes: " + ", ".join(f"{name} = {value}" for name, value in new.items()), text)
