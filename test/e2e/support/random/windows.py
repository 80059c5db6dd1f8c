"""Random windows: convolutions and pools of one and two dimensions, with strides, dilations, groups and padding."""

import numpy as np
from hypothesis import assume
from hypothesis import strategies as st
from support.random.bodies import COMBINERS, PRODUCTS, Combiner, ScalarOp
from support.random.steps import Sketch, SteppedProgram, Tensor, Values
from support.tensor_text import DTYPES, constant


def pad(sketch: Sketch, tensor: Tensor, low: list[int], high: list[int], value: int) -> Tensor:
    """``tensor`` with a border of ``value``."""
    shape = tuple(a + n + b for a, n, b in zip(low, tensor.shape, high, strict=True))
    result, filler = Tensor(sketch.fresh(), shape, tensor.element), sketch.fresh()
    text = f"{value}.0" if tensor.element.startswith("f") else str(value)
    indices = ", ".join(f"%i{d}: index" for d in range(len(shape)))
    widths = list(zip(low, high, strict=True))
    sketch.add(
        [result],
        f"  {filler} = {constant(text, tensor.element)}\n  {result.name} = tensor.pad {tensor.name} low{low} "
        f"high{high} {{\n  ^bb0({indices}):\n    tensor.yield {filler} : {tensor.element}\n"
        f"  }} : {tensor.type} to {result.type}",
        lambda values: [np.pad(values[tensor.name], widths, constant_values=value)],
    )
    return result


def spread(sketch: Sketch, tensor: Tensor, steps: list[int]) -> Tensor:
    """``tensor`` with zeros between its elements, as the gradient of a strided window has them."""
    shape = tuple((n - 1) * step + 1 for n, step in zip(tensor.shape, steps, strict=True))
    result, name, zero = Tensor(sketch.fresh(), shape, tensor.element), sketch.fresh(), sketch.fresh()
    text = "0.0" if tensor.element.startswith("f") else "0"
    places = f"{[0] * len(shape)} {list(tensor.shape)} {steps}"

    def evaluate(values: Values) -> list[np.ndarray]:
        found = np.zeros(shape, DTYPES[tensor.element])
        found[tuple(slice(None, None, step) for step in steps)] = values[tensor.name]
        return [found]

    sketch.add(
        [result],
        f"  {zero} = {constant(text, tensor.element)}\n  {name}e = tensor.empty() : {result.type}\n"
        f"  {name} = linalg.fill ins({zero} : {tensor.element}) outs({name}e : {result.type}) -> {result.type}\n"
        f"  {result.name} = tensor.insert_slice {tensor.name} into {name}{places} : {tensor.type} into {result.type}",
        evaluate,
    )
    return result


def window(sketch: Sketch) -> Tensor:
    """A convolution or a pool over one or two dimensions."""
    combiner: Combiner = sketch.pick(COMBINERS)
    dims = sketch.integer(1, 2)
    outs, windows = "ij"[:dims], "kl"[:dims]
    sizes, widths = [sketch.integer(1, 6) for _ in outs], [sketch.integer(1, 4) for _ in windows]
    strides, dilations = [sketch.integer(1, 3) for _ in outs], [sketch.integer(1, 3) for _ in outs]
    spans = [(n - 1) * s + (k - 1) * d + 1 for n, s, k, d in zip(sizes, strides, widths, dilations, strict=True)]
    slack = [sketch.integer(0, 1) for _ in sizes]
    others = {loop: sketch.integer(1, 3) for loop in "ncf" if sketch.maybe()}  # batch, channels or groups, features
    index = {out: f"{out} * {s} + {k} * {d}" for out, s, k, d in zip(outs, strides, windows, dilations, strict=True)}
    axes = sketch.draw(st.permutations([*outs, *(loop for loop in others if loop in "nc")]))
    shape = [spans[outs.index(a)] + slack[outs.index(a)] if a in outs else others[a] for a in axes]
    source = _source(sketch, shape, combiner.element)
    loops = dict(zip(outs, sizes, strict=True)) | dict(zip(windows, widths, strict=True)) | others
    uses = [(source, ", ".join(index.get(axis, axis) for axis in axes))]
    is_pool = sketch.maybe()
    kernel_axes = list(windows) if is_pool else [*windows, *(loop for loop in others if loop in "cf")]
    kernel_axes = sketch.draw(st.permutations(kernel_axes))
    products = [op for op in PRODUCTS if op.gives == combiner.element]
    assume(is_pool or products)
    if is_pool:
        loops.pop("f", None)
    kernel = sketch.argument([loops[axis] for axis in kernel_axes], combiner.element)
    uses.append((kernel, ", ".join(kernel_axes)))
    op = _first(combiner.element) if is_pool else sketch.pick(products)
    kept = [*outs, *(loop for loop in loops if loop in "nf")]
    if "c" in loops and (is_pool or sketch.maybe()):
        kept.append("c")  # each channel by itself
    kept = sketch.draw(st.permutations(kept))
    order = sketch.draw(st.permutations(list(loops)))
    ordered = {loop: loops[loop] for loop in order}
    initial = sketch.argument([loops[loop] for loop in kept], combiner.element) if sketch.maybe() else None
    return sketch.structured(ordered, uses, "".join(kept), op, combiner, initial)


def _first(element: str) -> ScalarOp:
    """The element of the input; the kernel of a pool says only how large the window is."""
    return ScalarOp("", (element, element), element, lambda x, _: x)


def _source(sketch: Sketch, shape: list[int], element: str) -> Tensor:
    """A tensor of that shape: an argument, one with a border, or one with zeros between its elements."""
    how = sketch.pick(("argument", "argument", "pad", "pad", "spread")) if element != "i1" else "argument"
    if how == "pad":
        low = [sketch.integer(0, min(2, n - 1)) for n in shape]
        high = [sketch.integer(0, min(2, n - 1 - a)) for n, a in zip(shape, low, strict=True)]
        inner = sketch.argument([n - a - b for n, a, b in zip(shape, low, high, strict=True)], element)
        return pad(sketch, inner, low, high, sketch.integer(-4, 2))
    if how == "spread":
        steps = [sketch.pick([s for s in (1, 2, 3) if (n - 1) % s == 0]) for n in shape]
        inner = sketch.argument([(n - 1) // s + 1 for n, s in zip(shape, steps, strict=True)], element)
        return spread(sketch, inner, steps)
    return sketch.argument(shape, element)


@st.composite
def windows(draw: st.DrawFn) -> SteppedProgram:
    """One or two windows."""
    sketch = Sketch(draw)
    for _ in range(draw(st.integers(1, 2))):
        window(sketch)
    return sketch.program()
