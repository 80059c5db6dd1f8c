"""Cumulative sums, products and extremes, as frontends write them: a window over everything up to an element."""

import numpy as np
from support.case import Case, some
from support.prefix_windows import window
from support.tensor_text import function, shape_of

_COMBINERS = {
    ("add", "f32"): ("arith.addf", "0.0", np.add),
    ("mul", "f32"): ("arith.mulf", "1.0", np.multiply),
    ("max", "f32"): ("arith.maximumf", "0xFF800000", np.maximum),
    ("max", "f16"): ("arith.maximumf", "0xFC00", np.maximum),
    ("add", "i8"): ("arith.addi", "0", np.add),
    ("mul", "i32"): ("arith.muli", "1", np.multiply),
    ("min", "i64"): ("arith.minsi", str(2**63 - 1), np.minimum),
    ("max", "i32"): ("arith.maxsi", str(-(2**31)), np.maximum),
}
_LAYOUTS = {
    "rows": ("5x13x{e}", 1, False),
    "columns": ("9x6x{e}", 0, False),
    "vector": ("37x{e}", 0, False),
    "vector-from-end": ("37x{e}", 0, True),
    "middle-from-end": ("3x7x5x{e}", 1, True),
    "last-of-four": ("2x3x2x9x{e}", 3, False),
}
"""The operand, the dimension along which it is scanned, and whether from its end."""


def _case(combiner: tuple[str, str], layout: str) -> Case:
    kind, element = combiner
    op, neutral, ufunc = _COMBINERS[combiner]
    pattern, at, from_end = _LAYOUTS[layout]
    short = pattern.replace("{e}", element)

    def expected(x: np.ndarray) -> np.ndarray:
        turned = np.flip(x, at) if from_end else x
        found = ufunc.accumulate(turned, at, x.dtype)
        return np.flip(found, at) if from_end else found

    text = function([short], [short], window(short, at, from_end, op, neutral))
    rounds = element == "f32" and kind != "max"
    return Case(f"scan-{kind}-{element}-{layout}", text, some(short), expected, shape_of(short)[at] if rounds else 0)


def _sum_of_16_bits() -> Case:
    """Every sum is done in f32 and rounded once."""
    text = function(["2x700xf16"], ["2x700xf16"], window("2x700xf16", 1, False, "arith.addf", "0.0"))
    return Case(
        "scan-add-f16", text, some("2x700xf16", low=0.5, high=1.5),
        lambda x: np.add.accumulate(x, 1, np.float32).astype(np.float16), 1,
    )  # fmt: skip


CASES = (*(_case(combiner, layout) for combiner in _COMBINERS for layout in _LAYOUTS), _sum_of_16_bits())
