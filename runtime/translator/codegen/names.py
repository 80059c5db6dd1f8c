"""Names for generated source: valid, unlike each other, close to what they name."""

import numpy as np

from ipu_mlir.dialects.support.text import identifier
from ipu_mlir.runtime.translator.codegen.vocabulary import FUNCTIONS

_RESERVED = FUNCTIONS | {"build", "main", "run", "memory", "scratch", "streams", "remote", "lo", "hi", "n"}


class Names:
    """Gives every request a name that no earlier request got."""

    def __init__(self) -> None:
        self._taken = set(_RESERVED)

    def fresh(self, wish: str) -> str:
        """``wish``, or ``wish`` with a number after it.

        >>> names = Names()
        >>> names.fresh("x"), names.fresh("x"), names.fresh("3d")
        ('x', 'x_2', '_3d')
        """
        base = identifier(wish)
        name, count = base, 1
        while name in self._taken:
            count += 1
            name = f"{base}_{count}"
        self._taken.add(name)
        return name


def scalar_text(value: np.generic) -> str:
    """A literal that gives ``value`` back exactly, and of a NaN the sign.

    >>> scalar_text(np.float32(0.1)), scalar_text(np.float64("-inf")), scalar_text(np.True_)
    ('0.1', '-inf', 'True')
    >>> scalar_text(-np.float32(np.nan))
    '-nan'
    """
    if value.dtype.kind == "f":
        return "-nan" if np.isnan(value) and np.signbit(value) else str(value)
    return repr(value.item())


def scalar_name(value: np.generic) -> str:
    """A name that reads like the number.

    >>> scalar_name(np.float32(-0.5)), scalar_name(np.int32(3))
    ('f_minus_0p5', 'i_3')
    """
    text = scalar_text(value).replace("e-", "em").replace("e+", "e").replace("-", "minus_").replace(".", "p")
    text = text.removesuffix("p0")
    return f"{value.dtype.kind}_{text}"
