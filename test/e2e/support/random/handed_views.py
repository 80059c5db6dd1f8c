"""Random views of a given type: blocks often yield part of a larger tensor, or all of one in another shape."""

from collections.abc import Callable

import numpy as np
from support.random.slices import compute, offset
from support.random.steps import Shape, Sketch, Tensor, Values

SIZES = (0, 1, 1, 1, 2, 3)
"""Of dimensions of what is yielded: one that has no elements, and ones that views drop and add."""


def small_shape(sketch: Sketch) -> Shape:
    return tuple(sketch.pick(SIZES) for _ in range(sketch.integer(0, 2)))


def view_of(sketch: Sketch, shape: Shape, element: str, within: int = 2) -> Tensor:
    """A view of that type of an argument, of what an op has made, or of a view, of which ``within`` may follow."""
    kinds = [_box, _box, _all, _expanded] + [_collapsed] * bool(shape)
    return sketch.pick(kinds)(sketch, shape, element, within)


def _source(sketch: Sketch, shape: Shape, element: str, within: int) -> Tensor:
    kind = sketch.integer(0, 3)
    if kind == 0 and within and shape and len(shape) < 4:
        return view_of(sketch, shape, element, within - 1)
    return compute(sketch, shape, element) if kind == 1 else sketch.some(shape, element)


def _add(sketch: Sketch, result: Tensor, text: str, view: Callable[[Values], np.ndarray]) -> Tensor:
    sketch.add([result], f"  {result.name} = {text}", lambda values: [view(values)])
    return result


def _box(sketch: Sketch, shape: Shape, element: str, within: int) -> Tensor:
    """A slice, at places that are known or not, of all or of part; dimensions of size 1 are dropped."""
    sizes = list(shape)
    for _ in range(sketch.integer(0, 2) if len(shape) < 3 else 0):
        sizes.insert(sketch.integer(0, len(sizes)), 1)
    steps = [sketch.pick((1, 1, 2)) for _ in sizes]
    spans = [max(0, (size - 1) * step + 1) for size, step in zip(sizes, steps, strict=True)]
    room = [sketch.pick((0, 0, 1, 3)) or (size == 0) for size in sizes]
    source = _source(sketch, tuple(span + more for span, more in zip(spans, room, strict=True)), element, within)
    offsets = [offset(sketch, int(more) - (size == 0)) for more, size in zip(room, sizes, strict=True)]
    result = Tensor(sketch.fresh(), shape, element)

    def view(values: Values) -> np.ndarray:
        places = [at if isinstance(at, int) else int(values[at.name]) for _, at in offsets]
        box = tuple(slice(at, at + span, step) for at, span, step in zip(places, spans, steps, strict=True))
        return values[source.name][box].reshape(shape)

    box = f"[{', '.join(name for name, _ in offsets)}] {sizes} {steps}"
    return _add(sketch, result, f"tensor.extract_slice {source.name}{box} : {source.type} to {result.type}", view)


def _all(sketch: Sketch, shape: Shape, element: str, within: int) -> Tensor:
    """A slice of all of what an op has made, without its first dimension, of size 1."""
    if not shape or 0 in shape or len(shape) > 3:
        return sketch.some(shape, element)
    source, result = compute(sketch, (1, *shape), element), Tensor(sketch.fresh(), shape, element)
    name, _ = offset(sketch, 0)
    box = f"[{', '.join([name, *'0' * len(shape)])}] {[1, *shape]} {[1] * (len(shape) + 1)}"
    text = f"tensor.extract_slice {source.name}{box} : {source.type} to {result.type}"
    return _add(sketch, result, text, lambda values: values[source.name][0])


def _expanded(sketch: Sketch, shape: Shape, element: str, within: int) -> Tensor:
    """Two neighbouring dimensions, or one of size 1, of what has one in their place."""
    if len(shape) < 2:
        source = _source(sketch, (), element, within) if shape == (1,) else sketch.some(shape, element)
        if not shape or shape != (1,):
            return source
        groups = "[]"
    else:
        at = sketch.integer(0, len(shape) - 2)
        source = _source(sketch, (*shape[:at], shape[at] * shape[at + 1], *shape[at + 2 :]), element, within)
        groups = _groups(len(shape), at)
    result = Tensor(sketch.fresh(), shape, element)
    text = f"tensor.expand_shape {source.name} {groups} output_shape {list(shape)} : {source.type} into {result.type}"
    return _add(sketch, result, text, lambda values: values[source.name].reshape(shape))


def _collapsed(sketch: Sketch, shape: Shape, element: str, within: int) -> Tensor:
    """A dimension that is two of the source."""
    at = sketch.integer(0, len(shape) - 1)
    outer = sketch.pick([size for size in range(1, shape[at] + 1) if shape[at] % size == 0] or [0])
    split = (outer, shape[at] // outer) if outer else (0, 2)
    source = _source(sketch, (*shape[:at], *split, *shape[at + 1 :]), element, within)
    result = Tensor(sketch.fresh(), shape, element)
    groups = _groups(len(shape) + 1, at)
    text = f"tensor.collapse_shape {source.name} {groups} : {source.type} into {result.type}"
    return _add(sketch, result, text, lambda values: values[source.name].reshape(shape))


def _groups(rank: int, first: int) -> str:
    """The reassociation of ``rank`` dimensions in which ``first`` and the one after it are one."""
    return str([[d] for d in range(first)] + [[first, first + 1]] + [[d] for d in range(first + 2, rank)])
