"""Random layers: channels first, last or in between, of any size up to 60, one after the other.

Windows of each channel, products over channels, norms along any axis and element-wise work, each of which may turn what
it gives. Sizes are those that leave parts of vectors, of blocks and of tiles over.
"""

from dataclasses import dataclass
from math import prod

import numpy as np
from hypothesis import assume
from hypothesis import strategies as st
from support.random.bodies import COMBINERS, Combiner, ScalarOp
from support.random.steps import Sketch, SteppedProgram, Tensor
from support.random.windows import pad

ELEMENT = "f32"
MOST_ELEMENTS = 4000
MOST_POINTS = 15_000  # of the loops of one step
_PRIMES = (7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59)

Use = tuple[Tensor, str]
_TWO, _ONE = (ELEMENT, ELEMENT), (ELEMENT,)
_PRODUCT = ScalarOp(f"arith.mulf %x0, %x1 : {ELEMENT}", _TWO, ELEMENT, np.multiply)
_LESS = ScalarOp(f"arith.subf %x0, %x1 : {ELEMENT}", _TWO, ELEMENT, np.subtract)
_MORE = ScalarOp(f"arith.addf %x0, %x1 : {ELEMENT}", _TWO, ELEMENT, np.add)
_LARGER = ScalarOp(f"arith.maximumf %x0, %x1 : {ELEMENT}", _TWO, ELEMENT, np.maximum)
_NEGATIVE = ScalarOp(f"arith.negf %x0 : {ELEMENT}", _ONE, ELEMENT, np.negative)
_SAME = ScalarOp("", _ONE, ELEMENT, lambda x: x)
_SMALL = ScalarOp(
    f"%high = arith.constant 3.0 : {ELEMENT}\n    %low = arith.negf %high : {ELEMENT}\n"
    f"    %less = arith.minimumf %x0, %high : {ELEMENT}\n    %y = arith.maximumf %less, %low : {ELEMENT}",
    _ONE,
    ELEMENT,
    lambda x: np.clip(x, -3, 3),
)
"""The number nearest by from -3 to 3: so sums of products stay whole numbers, layer after layer."""


def _combiner(op: str) -> Combiner:
    return next(each for each in COMBINERS if (each.op, each.element) == (op, ELEMENT))


_SUM, _LARGEST = _combiner("arith.addf"), _combiner("arith.maximumf")


@dataclass
class _Layers:
    """Draws layer by layer; ``axes`` names the dimensions of ``value``: channels ``c``, rows ``h``, columns ``w``."""

    sketch: Sketch
    axes: str
    value: Tensor

    @property
    def sizes(self) -> dict[str, int]:
        return dict(zip(self.axes, self.value.shape, strict=True))

    def turned(self, axes: str) -> str:
        """``axes``, half of the time in another order."""
        return "".join(self.sketch.draw(st.permutations(axes))) if self.sketch.maybe() else axes

    def step(
        self, loops: dict[str, int], uses: list, kept: str, op: ScalarOp, combiner: Combiner | None = None
    ) -> Tensor:
        assume(prod(loops.values()) <= MOST_POINTS)
        return self.sketch.structured(loops, uses, kept, op, combiner)

    def here(self) -> Use:
        return self.value, ", ".join(self.axes)

    def windows(self) -> None:
        """Each channel by itself, along one or two axes."""
        sketch, sizes = self.sketch, self.sizes
        along = [axis for axis in "hw" if axis in sizes and sketch.integer(0, 3)]
        assume(along)
        names = dict(zip(along, "kl", strict=False))
        widths = {axis: sketch.pick((1, 2, 3, 3, 5, 7)) for axis in along}
        dilations = {axis: sketch.pick((1, 1, 1, 2)) for axis in along}
        strides = {axis: sketch.pick((1, 1, 1, 2, 3)) for axis in along}
        border = {axis: (widths[axis] - 1) * dilations[axis] // 2 for axis in along}
        if sketch.integer(0, 3) and any(border.values()):
            low = [border.get(axis, 0) for axis in self.axes]
            self.value = pad(sketch, self.value, low, low, 0)
            sizes = self.sizes
        spans = {axis: sizes[axis] - (widths[axis] - 1) * dilations[axis] for axis in along}
        assume(min(spans.values()) > 0)
        kept = {axis: -(-spans[axis] // strides[axis]) if axis in along else n for axis, n in sizes.items()}
        loops = kept | {names[axis]: widths[axis] for axis in along}
        index = {axis: f"{axis} * {strides[axis]} + {names[axis]} * {dilations[axis]}" for axis in along}
        weights = self.turned("c" + "".join(names[axis] for axis in along))
        weight = sketch.argument([loops[axis] for axis in weights], ELEMENT)
        uses = [(self.value, ", ".join(index.get(axis, axis) for axis in self.axes)), (weight, ", ".join(weights))]
        is_pool = sketch.integer(0, 3) == 0
        op, combiner = (_MORE, _LARGEST) if is_pool else (_PRODUCT, _SUM)
        out = self.turned(self.axes)
        self.value, self.axes = self.step(loops, uses, out, op, combiner), out

    def product(self) -> None:
        """Other channels."""
        features = size(self.sketch)
        weights = self.turned("cf")
        weight = self.sketch.argument([{"c": self.sizes["c"], "f": features}[axis] for axis in weights], ELEMENT)
        out = self.turned(self.axes.replace("c", "f"))
        loops = self.sizes | {"f": features}
        self.value = self.step(loops, [self.here(), (weight, ", ".join(weights))], out, _PRODUCT, _SUM)
        self.axes = out.replace("f", "c")

    def norm(self) -> None:
        """Less than the largest, or than the sum, of all along an axis."""
        axis = self.sketch.pick(self.axes)
        left = self.turned(self.axes.replace(axis, ""))
        combiner = self.sketch.pick((_SUM, _LARGEST))
        of_all = self.step(self.sizes, [self.here()], left, _SAME, combiner)
        out = self.turned(self.axes)
        self.value = self.step(self.sizes, [self.here(), (of_all, ", ".join(left))], out, _LESS)
        self.axes = out

    def bias(self) -> None:
        """A vector along an axis, or another tensor, with each element."""
        axes = self.turned(self.sketch.pick((*self.axes, self.axes)))
        other = self.sketch.some([self.sizes[axis] for axis in axes], ELEMENT)
        out, op = self.turned(self.axes), self.sketch.pick((_MORE, _LARGER, _LESS))
        self.value = self.step(self.sizes, [self.here(), (other, ", ".join(axes))], out, op)
        self.axes = out

    def alone(self, op: ScalarOp) -> None:
        out = self.turned(self.axes)
        self.value, self.axes = self.step(self.sizes, [self.here()], out, op), out


def size(sketch: Sketch) -> int:
    """Around vectors of 16, a prime number, or any number up to 60."""
    kind = sketch.integer(0, 3)
    if kind == 0:
        return sketch.pick((1, 2, 15, 16, 17, 31, 32, 33, 48))
    return sketch.pick(_PRIMES) if kind == 1 else sketch.integer(1, 12 if kind == 2 else 60)


@st.composite
def layers(draw: st.DrawFn) -> SteppedProgram:
    """Two to six layers."""
    sketch = Sketch(draw)
    sketch.most_elements = MOST_ELEMENTS
    axes = "".join(draw(st.permutations(draw(st.sampled_from(("chw", "chw", "cw", "nchw"))))))
    sizes = {axis: draw(st.integers(1, 3)) if axis == "n" else size(sketch) for axis in axes}
    made = _Layers(sketch, axes, sketch.argument([sizes[axis] for axis in axes], ELEMENT))
    for _ in range(draw(st.integers(2, 6))):
        kind = sketch.pick(("windows", "windows", "product", "norm", "norm", "bias", "negative"))
        if kind == "negative":
            made.alone(_NEGATIVE)
            continue
        getattr(made, kind)()
        if sketch.integer(0, 3):
            made.alone(_SMALL)
    return sketch.program()
