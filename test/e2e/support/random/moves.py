"""Random steps that move elements and compute nothing: what loops and branches yield is often a part of a tensor."""

from collections.abc import Callable, Sequence
from math import prod

import numpy as np
from hypothesis import assume
from support.random.steps import Shape, Sketch, Tensor, Values
from support.tensor_text import constant

Move = Callable[[np.ndarray], np.ndarray]


def transposed(sketch: Sketch, source: Tensor) -> Tensor:
    order = sketch.pick([*_orders(len(source.shape))])
    result = Tensor(sketch.fresh(), tuple(source.shape[d] for d in order), source.element)
    empty = sketch.fresh()
    text = (
        f"  {empty} = tensor.empty() : {result.type}\n  {result.name} = linalg.transpose ins({source.name} : "
        f"{source.type}) outs({empty} : {result.type}) permutation = {list(order)}"
    )
    return _add(sketch, source, result, text, lambda x: x.transpose(order))


def reshaped(sketch: Sketch, source: Tensor) -> Tensor:
    """All in one dimension, and from there, if need be, to two."""
    flat = _reassociated(sketch, source, (prod(source.shape),)) if len(source.shape) > 1 else source
    size = flat.shape[0]
    outer = sketch.pick([n for n in range(1, size + 1) if size % n == 0])
    wanted = source.shape if sketch.maybe() else (outer, size // outer)
    return flat if len(wanted) == 1 else _reassociated(sketch, flat, wanted)


def _reassociated(sketch: Sketch, source: Tensor, shape: Shape) -> Tensor:
    result = Tensor(sketch.fresh(), shape, source.element)
    groups = [list(range(max(len(shape), len(source.shape))))]
    op = "collapse_shape" if len(shape) < len(source.shape) else "expand_shape"
    sizes = f"output_shape {list(shape)} " if op == "expand_shape" else ""
    text = f"  {result.name} = tensor.{op} {source.name} {groups} {sizes}: {source.type} into {result.type}"
    return _add(sketch, source, result, text, lambda x: x.reshape(shape))


def part(sketch: Sketch, source: Tensor, axis: int, first: int, size: int) -> Tensor:
    """``size`` elements along ``axis``, from ``first`` on."""
    shape = (*source.shape[:axis], size, *source.shape[axis + 1 :])
    result = Tensor(sketch.fresh(), shape, source.element)
    offsets = [first if d == axis else 0 for d in range(len(shape))]
    text = (
        f"  {result.name} = tensor.extract_slice {source.name}{offsets} {list(shape)} {[1] * len(shape)} : "
        f"{source.type} to {result.type}"
    )
    return _add(sketch, source, result, text, lambda x: np.take(x, range(first, first + size), axis))


def joined(sketch: Sketch, axis: int, tensors: Sequence[Tensor]) -> Tensor:
    shape = list(tensors[0].shape)
    shape[axis] = sum(tensor.shape[axis] for tensor in tensors)
    result = Tensor(sketch.fresh(), tuple(shape), tensors[0].element)
    names, types = (", ".join(getattr(tensor, what) for tensor in tensors) for what in ("name", "type"))
    text = f"  {result.name} = tensor.concat dim({axis}) {names} : ({types}) -> {result.type}"
    sketch.add([result], text, lambda values: [np.concatenate([values[tensor.name] for tensor in tensors], axis)])
    return result


def rolled(sketch: Sketch, source: Tensor) -> Tensor:
    """The end before the beginning."""
    axis = _axis(sketch, source, least=2)
    size = source.shape[axis]
    at = sketch.integer(1, size - 1)
    return joined(sketch, axis, [part(sketch, source, axis, at, size - at), part(sketch, source, axis, 0, at)])


def padded(sketch: Sketch, source: Tensor, low: Sequence[int] = (), high: Sequence[int] = ()) -> Tensor:
    low = low or [sketch.integer(0, 2) for _ in source.shape]
    high = high or [sketch.integer(0, 2) for _ in source.shape]
    shape = tuple(a + n + b for a, n, b in zip(low, source.shape, high, strict=True))
    result = Tensor(sketch.fresh(), shape, source.element)
    indices = ", ".join(f"{result.name}i{d}: index" for d in range(len(shape)))
    number = {"f": "-5.0", "i": "-5"}[source.element[0]] if source.element != "i1" else "true"
    text = (
        f"  {result.name}p = {constant(number, source.element)}\n  {result.name} = tensor.pad {source.name} "
        f"low{list(low)} high{list(high)} {{\n  ^bb0({indices}):\n    tensor.yield {result.name}p : {source.element}\n"
        f"  }} : {source.type} to {result.type}"
    )
    widths, border = list(zip(low, high, strict=True)), 1 if source.element == "i1" else -5
    return _add(sketch, source, result, text, lambda x: np.pad(x, widths, constant_values=border))


def shifted(sketch: Sketch, source: Tensor) -> Tensor:
    """A part of it with a border instead of the rest."""
    axis = _axis(sketch, source, least=2)
    size = source.shape[axis]
    at = sketch.integer(1, size - 1)
    low = [at if d == axis else 0 for d in range(len(source.shape))]
    zeros = [0] * len(low)
    if sketch.maybe():
        return padded(sketch, part(sketch, source, axis, 0, size - at), low, zeros)
    return padded(sketch, part(sketch, source, axis, at, size - at), zeros, low)


def inserted(sketch: Sketch, source: Tensor) -> Tensor:
    """A part of it, or all, put into another tensor of its type, or into an empty one that it fills."""
    axis = _axis(sketch, source)
    size = source.shape[axis]
    taken = sketch.integer(1, size)
    moved = part(sketch, source, axis, sketch.integer(0, size - taken), taken)
    into = sketch.some(source.shape, source.element)
    first = sketch.integer(0, size - taken)
    result = Tensor(sketch.fresh(), source.shape, source.element)
    offsets = [first if d == axis else 0 for d in range(len(source.shape))]
    text = (
        f"  {result.name} = tensor.insert_slice {moved.name} into {into.name}{offsets} {list(moved.shape)} "
        f"{[1] * len(offsets)} : {moved.type} into {into.type}"
    )

    def evaluate(values: Values) -> list[np.ndarray]:
        found = np.moveaxis(values[into.name].copy(), axis, 0)
        found[first : first + taken] = np.moveaxis(values[moved.name], axis, 0)
        return [np.ascontiguousarray(np.moveaxis(found, 0, axis))]

    sketch.add([result], text, evaluate)
    return result


def extended(sketch: Sketch, source: Tensor) -> Tensor:
    """With another one behind it, and then a part of both of the old size."""
    axis = _axis(sketch, source)
    size = source.shape[axis]
    both = joined(sketch, axis, [source, sketch.some(source.shape, source.element)])
    return part(sketch, both, axis, sketch.integer(0, size), size)


MOVES = (transposed, transposed, reshaped, rolled, rolled, padded, shifted, inserted, inserted, extended)


def move_step(sketch: Sketch) -> None:
    """One to three moves, each of what the one before gave."""
    candidates = [tensor for tensor in sketch.tensors if len(tensor.shape) in (1, 2, 3)]
    assume(candidates)
    tensor = sketch.pick(candidates[::-1])
    for _ in range(sketch.integer(1, 3)):
        tensor = sketch.pick(MOVES)(sketch, tensor)


def _add(sketch: Sketch, source: Tensor, result: Tensor, text: str, move: Move) -> Tensor:
    sketch.add([result], text, lambda values: [move(values[source.name])])
    return result


def _axis(sketch: Sketch, source: Tensor, least: int = 1) -> int:
    axes = [axis for axis, size in enumerate(source.shape) if size >= least]
    assume(axes)
    return sketch.pick(axes)


def _orders(rank: int) -> list[tuple[int, ...]]:
    """Ways to turn the dimensions round."""
    return [tuple((d + turn) % rank for d in range(rank))[::step] for turn in range(rank) for step in (1, -1)]
