"""Programs with elements of another type than the one they are written for."""

import re

_F32 = re.compile(r"\bf32\b|(?<=x)f32\b")


def with_floats(text: str, element_type: str) -> str:
    """The program ``text`` with ``element_type`` for every f32.

    >>> with_floats("%0 = arith.addf %a, %b : f32  // tensor<4xf32>", "f16")
    '%0 = arith.addf %a, %b : f16  // tensor<4xf16>'
    """
    return _F32.sub(element_type, text)
