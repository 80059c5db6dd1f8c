"""Cumulative sums, products and extremes, as frontends write them: a window over everything up to an element."""

import numpy as np
from support.case import Case, some
from support.prefix_windows import window
from support.running_loops import STYLES, running_loop, running_while
from support.tensor_text import function, shape_of, short_type

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


def _exclusive(from_end: bool) -> Case:
    """One window more than elements, as for an exclusive sum."""
    text = function(["5x9xi32"], ["5x10xi32"], window("5x9xi32", 1, from_end, "arith.addi", "0", beyond=1))

    def expected(x: np.ndarray) -> np.ndarray:
        zero = np.zeros_like(x[:, :1])
        if from_end:
            return np.flip(np.cumsum(np.concatenate([zero, np.flip(x, 1)], 1), 1, x.dtype), 1)
        return np.cumsum(np.concatenate([zero, x], 1), 1, x.dtype)

    return Case(f"scan-exclusive{'-from-end' * from_end}", text, some("5x9xi32"), expected)


def _sum_of_16_bits() -> Case:
    """Every sum is done in f32 and rounded once."""
    text = function(["2x700xf16"], ["2x700xf16"], window("2x700xf16", 1, False, "arith.addf", "0.0"))
    return Case(
        "scan-add-f16", text, some("2x700xf16", low=0.5, high=1.5),
        lambda x: np.add.accumulate(x, 1, np.float32).astype(np.float16), 1,
    )  # fmt: skip


_LOOPS = {
    "rows": ("5x13x{e}", 1),
    "columns": ("9x6x{e}", 0),
    "vector": ("37x{e}", 0),
    "middle": ("3x7x5x{e}", 1),
}


def _loop(combiner: tuple[str, str], layout: str, style: str) -> Case:
    """A loop over elements in place of a window."""
    kind, element = combiner
    op, neutral, ufunc = _COMBINERS[combiner]
    pattern, at = _LOOPS[layout]
    short = pattern.replace("{e}", element)
    last = short_type([n for d, n in enumerate(shape_of(short)) if d != at], element)
    begin = neutral
    if "exclusive" in style and kind in ("add", "mul"):
        begin = {"add": "3", "mul": "2"}[kind] + ".0" * (element == "f32")

    def expected(x: np.ndarray) -> np.ndarray | tuple[np.ndarray, ...]:
        if "exclusive" in style:
            started = np.full_like(x.take([0], at), _value(begin, x.dtype))
            return ufunc.accumulate(np.concatenate([started, np.delete(x, -1, at)], at), at, x.dtype)
        found = ufunc.accumulate(x, at, x.dtype)
        return (found, found.take(-1, at)) if style == "guarded-last" else found

    results = [short, last] if style == "guarded-last" else [short]
    text = function([short], results, running_loop(short, at, style, op, begin))
    rounds = element == "f32" and kind != "max"
    name = f"scan-loop-{style}-{kind}-{element}-{layout}"
    return Case(name, text, some(short), expected, shape_of(short)[at] if rounds else 0)


def _while(combiner: tuple[str, str], row: tuple[int, ...], *, exclusive: bool) -> Case:
    """A loop that counts, over rows."""
    kind, element = combiner
    op, _, ufunc = _COMBINERS[combiner]
    short, state = short_type((11, *row), element), short_type(row, element)

    def expected(begin: np.ndarray, x: np.ndarray) -> tuple[np.ndarray, ...]:
        found = ufunc.accumulate(np.concatenate([begin[None], x]), 0, x.dtype)
        return found[:-1] if exclusive else found[1:], found[-1]

    text = function([state, short], [short, state], running_while(11, row, element, op, exclusive=exclusive))
    name = f"scan-while-{kind}-{element}-{len(row)}{'-exclusive' if exclusive else ''}"
    rounds = element == "f32" and kind != "max"
    return Case(name, text, some(state, short), expected, 11 if rounds else 0)


def _value(text: str, dtype: np.dtype) -> np.ndarray:
    """The number that a constant of MLIR is."""
    if text.startswith("0x"):
        return np.array(int(text, 16), f"u{dtype.itemsize}").view(dtype)
    return np.array(float(text) if dtype.kind == "f" else int(text), dtype)


_LOOP_CASES = (
    *(_loop(("add", "f32"), layout, style) for layout in _LOOPS for style in STYLES),
    *(_while(("add", "f32"), row, exclusive=exclusive) for row in ((), (3,), (2, 5)) for exclusive in (False, True)),
    *(_while(combiner, (4,), exclusive=False) for combiner in (("max", "f16"), ("mul", "i32"))),
    *(_loop(combiner, "rows", style) for combiner in _COMBINERS for style in STYLES if combiner != ("add", "f32")),
)

CASES = (
    *(_case(combiner, layout) for combiner in _COMBINERS for layout in _LAYOUTS),
    _sum_of_16_bits(),
    *map(_exclusive, (False, True)),
    *_LOOP_CASES,
)
