"""Random slices at run-time offsets: read and updated, at offsets that are loaded, and clamped or not."""

import numpy as np
from hypothesis import assume
from hypothesis import strategies as st
from support.random.bodies import EXACT_OPS
from support.random.scalars import clamped, loaded
from support.random.steps import Scalar, Shape, Sketch, SteppedProgram, Tensor, Values

ELEMENTS = ("f32", "f64", "i32", "i8", "i1")


def offset(sketch: Sketch, last: int) -> tuple[str, Scalar | int]:
    """How the text says an offset, and its value; what is not from 0 to ``last`` means the nearest that is."""
    if sketch.integer(0, 2) == 0:
        at = sketch.integer(0, last)
        return str(at), at
    element = sketch.pick(("index", "i32", "i64"))
    known = [scalar for scalar in sketch.scalars if scalar.element == element]
    source = sketch.pick(known) if known and sketch.maybe() else loaded(sketch, element, -2, last + 2)
    result = source if element == "index" and sketch.misses() else clamped(sketch, source, last)
    return result.name, result


class _Cut:
    """A box of a tensor: offsets that are numbers or scalars, sizes and steps, and the dimensions that are dropped."""

    def __init__(self, sketch: Sketch, shape: Shape) -> None:
        self.steps = [sketch.pick((1, 1, 1, 2)) for _ in shape]
        self.sizes = [sketch.integer(1, (n - 1) // s + 1) for n, s in zip(shape, self.steps, strict=True)]
        self.lasts = lasts = [n - 1 - (m - 1) * s for n, m, s in zip(shape, self.sizes, self.steps, strict=True)]
        self.offsets = [offset(sketch, last) for last in lasts]
        drops = sketch.maybe()
        self.kept = [d for d, size in enumerate(self.sizes) if not (drops and size == 1)]

    @property
    def small(self) -> Shape:
        return tuple(self.sizes[d] for d in self.kept)

    @property
    def text(self) -> str:
        return f"[{', '.join(name for name, _ in self.offsets)}] {self.sizes} {self.steps}"

    def box(self, values: Values) -> tuple[slice, ...]:
        places = [at if isinstance(at, int) else int(values[at.name]) for _, at in self.offsets]
        starts = [min(max(place, 0), last) for place, last in zip(places, self.lasts, strict=True)]
        return tuple(
            slice(start, start + (size - 1) * step + 1, step)
            for start, size, step in zip(starts, self.sizes, self.steps, strict=True)
        )


def read_slice(sketch: Sketch, source: Tensor) -> Tensor:
    cut = _Cut(sketch, source.shape)
    result = Tensor(sketch.fresh(), cut.small, source.element)
    text = f"  {result.name} = tensor.extract_slice {source.name}{cut.text} : {source.type} to {result.type}"
    sketch.add([result], text, lambda values: [values[source.name][cut.box(values)].reshape(cut.small)])
    return result


def update_slice(sketch: Sketch, dest: Tensor) -> Tensor:
    """``dest`` with a box of it replaced."""
    cut = _Cut(sketch, dest.shape)
    source = sketch.some(cut.small, dest.element)
    result = Tensor(sketch.fresh(), dest.shape, dest.element)

    def evaluate(values: Values) -> list[np.ndarray]:
        found = values[dest.name].copy()
        found[cut.box(values)] = values[source.name].reshape(cut.sizes)
        return [found]

    text = (
        f"  {result.name} = tensor.insert_slice {source.name} into {dest.name}{cut.text} : "
        f"{source.type} into {dest.type}"
    )
    sketch.add([result], text, evaluate)
    return result


def compute(sketch: Sketch, shape: Shape, element: str) -> Tensor:
    """An element-wise op that gives that type."""
    op = sketch.pick([op for op in EXACT_OPS if op.gives == element])
    loops = dict(zip("ijklmn", shape, strict=False))
    names = list(loops)
    uses = []
    for taken in op.takes:
        axes = names if sketch.maybe() else [axis for axis in names if sketch.maybe()]
        uses.append((sketch.some([loops[axis] for axis in axes], taken), ", ".join(axes)))
    return sketch.structured(loops, uses, "".join(names), op)


def slice_step(sketch: Sketch) -> None:
    """One step on a tensor that is there: read a box, update a box, or compute."""
    candidates = [tensor for tensor in sketch.tensors if tensor.element in ELEMENTS and 1 <= len(tensor.shape) <= 4]
    assume(candidates)
    tensor = sketch.pick(candidates[::-1])
    kind = sketch.pick(("read", "update", "update", "compute"))
    if kind == "read":
        read_slice(sketch, tensor)
    elif kind == "update":
        update_slice(sketch, tensor)
    else:
        compute(sketch, tensor.shape, tensor.element)


@st.composite
def slices(draw: st.DrawFn, is_inside: bool = True) -> SteppedProgram:
    """One to five steps on tensors of up to three dimensions."""
    sketch = Sketch(draw, is_inside=is_inside)
    sketch.argument(sketch.shape(), sketch.pick(ELEMENTS))
    for _ in range(draw(st.integers(1, 5))):
        slice_step(sketch)
    return sketch.program()
