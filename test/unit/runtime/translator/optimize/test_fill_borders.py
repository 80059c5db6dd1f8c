"""Padded buffers: the border is filled, nothing else is, and only where nobody could tell."""

from dataclasses import replace

import numpy as np
import pytest

from ipu_mlir.runtime.translator.array_ir.access import Access, Buffer, Role, digits_of_cover
from ipu_mlir.runtime.translator.array_ir.options import TranslatorOptions
from ipu_mlir.runtime.translator.optimize.fill_borders import Span, box_of, slabs_around

ALWAYS = TranslatorOptions(kernels="never", threads=1, border_min_elements=1)
RNG = np.random.default_rng(4)


def padded(shape: tuple[int, ...], low: tuple[int, ...], size: tuple[int, ...], between: str = "") -> str:
    """Fills memory of ``shape`` with 7, does what ``between`` says, and copies the argument to ``low``."""
    strides = [int(np.prod(shape[d + 1 :])) for d in range(len(shape))]
    offset = sum(a * b for a, b in zip(low, strides, strict=True))
    small, large = ("x".join(map(str, (*s, "f32"))) for s in (size, shape))
    view = f"memref<{small}, strided<{strides}, offset: {offset}>>"
    return f"""func.func @main(%x: memref<{small}>) -> (memref<{large}>, memref<{large}>) {{
      %c = arith.constant 7.0 : f32
      %o = memref.alloc() : memref<{large}>
      %other = memref.alloc() : memref<{large}>
      linalg.fill ins(%c : f32) outs(%o : memref<{large}>)
      {between or f"linalg.fill ins(%c : f32) outs(%other : memref<{large}>)"}
      %box = memref.subview %o{list(low)} {list(size)} {[1] * len(size)} : memref<{large}> to {view}
      memref.copy %x, %box : memref<{small}> to {view}
      return %o, %other : memref<{large}>, memref<{large}>
    }}"""


CASES = [
    ((5,), (1,), (3,)),
    ((4, 6), (1, 1), (2, 4)),
    ((4, 6), (0, 0), (3, 6)),
    ((4, 6), (1, 0), (3, 6)),
    ((2, 5, 6, 3), (0, 1, 1, 0), (2, 3, 4, 3)),
    ((2, 5, 6, 3), (1, 0, 2, 0), (1, 5, 4, 3)),
]


@pytest.mark.parametrize(("shape", "low", "size"), CASES)
@pytest.mark.parametrize("blocks", [False, True])
def test_padding(shape, low, size, blocks, run_plain, small_blocks):
    options = replace(small_blocks, border_min_elements=1) if blocks else ALWAYS
    x = RNG.standard_normal(size, dtype=np.float32)
    want = np.full(shape, 7, np.float32)
    want[tuple(slice(a, a + n) for a, n in zip(low, size, strict=True))] = x
    np.testing.assert_array_equal(run_plain(padded(shape, low, size), x, options=options)[0], want)


def test_only_the_border_is_filled(engine):
    made = engine(padded((40, 60), (1, 1), (38, 58)), ALWAYS)
    fills = [line for line in made.source.splitlines() if "copyto(" in line and "f_7" in line]
    assert len(fills) == 4 + 1, "four sides, and the other result"
    assert made.source.count("(60,), (1,))") == made.source.count("(38,), (60,))") == 2


@pytest.mark.parametrize(
    "between",
    [
        "memref.copy %o, %other : memref<4x6xf32> to memref<4x6xf32>",
        """linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
                           iterator_types = ["parallel", "parallel"]}
             ins(%o : memref<4x6xf32>) outs(%other : memref<4x6xf32>) {
           ^bb0(%a: f32, %b: f32):
             %s = arith.addf %a, %a : f32
             linalg.yield %s : f32
           }""",
    ],
    ids=["copied", "doubled"],
)
def test_who_reads_before_the_box_is_written_sees_the_fill(between, run_plain):
    x = RNG.standard_normal((2, 4), dtype=np.float32)
    results = run_plain(padded((4, 6), (1, 1), (2, 4), between), x, options=ALWAYS)
    assert (results[1] == (14 if "linalg.generic" in between else 7)).all()
    assert (results[0][1:3, 1:5] == x).all() and (results[0].sum() - x.sum() - 16 * 7) < 1e-4


@pytest.mark.parametrize("options", [ALWAYS, TranslatorOptions(threads=1)], ids=["a small box", "a small buffer"])
def test_where_little_is_gained_all_is_filled(options, engine):
    size = (2, 3) if options is ALWAYS else (38, 58)
    source = engine(padded((40, 60), (1, 1), size), options).source
    assert sum("copyto(" in line and "f_7" in line for line in source.splitlines()) == 2


def test_sides_and_box_are_everything_once():
    for shape, low, size in CASES:
        box = tuple(Span(a, a + n) for a, n in zip(low, size, strict=True))
        times = np.zeros(shape, int)
        for each in (box, *slabs_around(box, shape)):
            times[tuple(slice(span.start, span.stop) for span in each)] += 1
        assert (times == 1).all()


@pytest.mark.parametrize(
    ("offset", "extents", "strides"),
    [(0, (4, 2), (6, 2)), (7, (24 - 7,), (1,)), (3, (4, 4), (6, 1)), (0, (2, 2), (1, 1)), (0, (2,), (7,))],
    ids=["every other column", "runs over rows", "beyond the row", "a loop twice", "a diagonal"],
)
def test_what_is_no_box(offset, extents, strides):
    buffer = Buffer("b", 24, np.dtype("f4"), Role.TEMPORARY)
    digits = digits_of_cover(Access(buffer, 0, (6, 1)), (4, 6))
    assert digits is not None
    assert box_of(Access(buffer, offset, strides), extents, digits) is None
