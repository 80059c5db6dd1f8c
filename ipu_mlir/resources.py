"""Weights that stand at the end of MLIR text (``dense_resource``), moved to where they are used.

The bindings cannot read a resource's data, and constants have to be read to be placed and run. So
``dense_resource<key>`` becomes ``dense<"0x...">`` with the data of ``key`` before the text is parsed.
"""

from ipu_mlir.dialects.errors import CompileError

_USE = "dense_resource<"
_SECTION = "dialect_resources"
_ALIGNMENT_DIGITS = 8  # a blob begins with its alignment, four bytes as hexadecimal digits


def has_resources(text: str) -> bool:
    """Whether MLIR text uses a resource."""
    return _USE in text


def inline_resources(text: str, name: str) -> str:
    """``text`` with every ``dense_resource`` replaced by its data; text without one comes back as it is.

    Args:
        text: MLIR text.
        name: what to call the text in errors.

    Raises:
        CompileError: a resource is used whose data is not in the text.
    """
    if not has_resources(text):
        return text
    section = text.rfind(_SECTION)
    body = text if section < 0 else text[: text.rfind("{-#", 0, section)]
    pieces: list[str] = []
    # Plain searches: regular expressions crawl on megabytes of digits.
    position = 0
    while (start := body.find(_USE, position)) >= 0:
        end = body.index(">", start)
        key = body[start + len(_USE) : end].strip()
        pieces += [body[position:start], 'dense<"0x', _digits(text, section, key, name), '">']
        position = end + 1
    return "".join([*pieces, body[position:]])


def _digits(text: str, section: int, key: str, name: str) -> str:
    """The hexadecimal digits of resource ``key``, without its alignment."""
    start = text.find(f'{key}: "0x', section) if section >= 0 else -1
    if start < 0:
        raise CompileError(
            f"{name}: the data of dense_resource<{key}> is not in the text; print the module with its resources"
        )
    start += len(key) + len(': "0x')
    return text[start + _ALIGNMENT_DIGITS : text.index('"', start)]
