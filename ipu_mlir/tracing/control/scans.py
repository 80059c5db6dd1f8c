"""Loops over the first axis of tensors: ``scan``, ``map`` and ``associative_scan``."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.specs.specs import TensorSpec
from ipu_mlir.tracing.control.bodies import (
    Body,
    Tree,
    call,
    carry_specs,
    make_op,
    spec_of_leaf,
    stacked,
    tree,
    values_of,
)
from ipu_mlir.tracing.emit import empty, index_constant
from ipu_mlir.tracing.errors import TraceTypeError, TraceValueError
from ipu_mlir.tracing.graph import Trace, current_trace

arith, scf, tensor = upstream("arith"), upstream("scf"), upstream("tensor")


def scan(
    f: Callable[[Any, Any], Any],
    init: Any,
    xs: Any = None,
    length: int | None = None,
    *,
    reverse: bool = False,
    recompute: str = "elementwise",
) -> tuple[Any, Any]:
    """``f(carry, x)`` for each ``x`` along the first axis of ``xs``: the last carry, and all results one upon another.

        total, sums = ipu.scan(lambda sum, x: (sum + x, sum + x), 0.0, x)

    Args:
        f: takes what is carried and an element of ``xs``, gives the next carry (nested as it is, of equal shapes and
            types) and a result: tensors nested as they like, or None.
        init: what is carried first. A Python number gets the type that ``f`` gives.
        xs: tensors, nested as they like, of one first size; None for a loop that is counted alone.
        length: how many iterations there are; needed where ``xs`` has no tensors.
        reverse: from the last to the first; results stand where their elements do.
        recompute: what a gradient computes again of an iteration: ``"elementwise"`` ops, and it reads sums and products
            that the loop has stored, or all from its ``"inputs"``, which takes less memory and more cycles.

    Raises:
        TypeError, ValueError: ``f`` gives something else than it takes, or sizes differ; names the leaf.
    """
    if recompute not in ("elementwise", "inputs"):
        raise TraceValueError(f'scan: recompute={recompute!r}; it is "elementwise" or "inputs"')
    over = tree(xs, "xs")
    rounds = _rounds("scan", over, length)
    trace = current_trace()
    if trace is None:
        return _scan_arrays(f, init, over, rounds, reverse)
    start = tree(init, "carry")
    sources = values_of(trace, over.leaves, [spec_of_leaf(leaf) for leaf in over.leaves])
    with trace.emit("scan"):
        bounds = [index_constant(each) for each in (0, rounds, 1)]
    result = Tree(over.structure, ())

    def give(specs: list[TensorSpec]) -> tuple[Tree, Body]:
        nonlocal result
        body = Body(trace, "scan", specs, lambda: scf.ForOp(*bounds))
        with body.traced() as carried:
            with trace.emit("scan"):
                place = _place(body, rounds, reverse)
                rows = [_row(trace, x, source, place) for x, source in zip(over.leaves, sources, strict=True)]
            carry, given = _pair(call("scan", f, start.nested(carried), over.nested(rows)))
            result = tree(given, "the result")
            return start.like(carry, "carry"), body

    specs, carry, body = carry_specs("scan", start, give)
    rows = [spec_of_leaf(leaf) for leaf in result.leaves]
    stacked = [TensorSpec((rounds, *row.shape), row.dtype) for row in rows]
    with body.traced():
        values = values_of(trace, [*carry.leaves, *result.leaves], [*specs, *rows])
        with trace.emit("scan"):
            place = _place(body, rounds, reverse)
            filled = [
                _with_row(value, body.add_argument(trace.tensor_type(whole.shape, whole.dtype)), place)
                for value, whole in zip(values[len(specs) :], stacked, strict=True)
            ]
            scf.YieldOp([*values[: len(specs)], *filled])
    with trace.emit("scan"):
        buffers = [empty(spec.shape, spec.dtype) for spec in stacked]
        attributes = {"ipu.recompute": ir.StringAttr.get(recompute)} if recompute != "elementwise" else None
    operands = [*bounds, *values_of(trace, start.leaves, specs), *buffers]
    results = make_op(trace, scf.ForOp, operands, [*specs, *stacked], [body], attributes)
    return start.nested(results[: len(specs)]), result.nested(results[len(specs) :])


def map(f: Callable[[Any], Any], xs: Any) -> Any:
    """``f(x)`` for each ``x`` along the first axis of ``xs``, one after the other; results one upon another.

    ``vmap`` does the same with all at once, which is quicker and takes more memory.
    """
    return scan(lambda _, x: (None, f(x)), None, xs)[1]


def associative_scan(fn: Callable[[Any, Any], Any], elems: Any, *, reverse: bool = False, axis: int = 0) -> Any:
    """``elems`` combined by ``fn`` from the first to each along ``axis``, in as many steps as their number has bits.

        sums = ipu.associative_scan(np.add, x)

    Args:
        fn: combines two trees of tensors, of any size along ``axis``, to one that is nested likewise; associative.
        elems: tensors, nested as they like, of one size along ``axis``.
        reverse: from the last to each.

    Raises:
        TypeError, ValueError: sizes along ``axis`` differ, or ``fn`` gives something else than it takes.
    """
    given = tree(elems, "elems")
    if low := [f"{path}: {leaf}" for leaf, path in zip(given.leaves, given.paths, strict=True) if not np.ndim(leaf)]:
        raise TraceValueError(f"associative_scan: there is no axis to go along in {low[0]}")
    leaves = [np.moveaxis(leaf, axis, 0) for leaf in given.leaves]
    _rounds("associative_scan", Tree(given.structure, tuple(leaves)), None)
    combine = _combined_along(fn, given, axis)
    flipped = [np.flip(leaf, 0) for leaf in leaves] if reverse else leaves
    found = _prefixes(combine, flipped)
    found = [np.flip(leaf, 0) for leaf in found] if reverse else found
    return given.nested([np.moveaxis(leaf, 0, axis) for leaf in found])


Leaves = Sequence[Any]


def _combined_along(fn: Callable[[Any, Any], Any], given: Tree, axis: int) -> Callable[[Leaves, Leaves], list[Any]]:
    """``fn`` on leaves whose first axis is ``axis`` of the user's."""

    def combine(one: Leaves, other: Leaves) -> list[Any]:
        back = [given.nested([np.moveaxis(leaf, 0, axis) for leaf in each]) for each in (one, other)]
        found = given.like(call("associative_scan", fn, *back), "the result of fn").leaves
        for leaf, like, path in zip(found, one, given.paths, strict=True):
            if leaf.shape != np.moveaxis(like, 0, axis).shape:
                raise TraceValueError(
                    f"associative_scan: fn gives {path} of shape {leaf.shape} for {like}; keep shapes"
                )
        return [np.moveaxis(leaf, axis, 0) for leaf in found]

    return combine


def _prefixes(combine: Callable[[Leaves, Leaves], list[Any]], leaves: Leaves) -> list[Any]:
    """Pairs are combined, their prefixes found, and those of the elements between follow from them."""
    size = leaves[0].shape[0]
    if size < 2:
        return list(leaves)
    odd = _prefixes(combine, combine([x[: size - 1 : 2] for x in leaves], [x[1::2] for x in leaves]))
    first = [x[:1] for x in leaves]
    if size == 2:
        return [np.concatenate(pair) for pair in zip(first, odd, strict=True)]
    before = [x[: (size - 1) // 2] for x in odd]
    even = combine(before, [x[2::2] for x in leaves])
    even = [np.concatenate(pair) for pair in zip(first, even, strict=True)]
    return [_interleaved(*pair) for pair in zip(even, odd, strict=True)]


def _interleaved(even: Any, odd: Any) -> Any:
    """``even[0], odd[0], even[1], ...``; there may be one more of ``even``."""
    pairs, rest = odd.shape[0], odd.shape[1:]
    both = np.reshape(np.stack([even[:pairs], odd], axis=1), (2 * pairs, *rest))
    return both if even.shape[0] == pairs else np.concatenate([both, even[pairs:]])


def _rounds(name: str, over: Tree, length: int | None) -> int:
    """The number of iterations of a loop over the first axis of ``over``.

    Raises:
        TraceValueError: a leaf has no dimensions or another size; TraceTypeError: nothing tells.
    """
    size, whose = length, "length"
    for leaf, path in zip(over.leaves, over.paths, strict=True):
        shape = np.shape(leaf)
        if not shape:
            raise TraceValueError(f"{name}: {path} has no first axis to go along: {leaf}")
        if size is not None and shape[0] != size:
            raise TraceValueError(f"{name}: {path} has {shape[0]} elements along its first axis, {whose} says {size}")
        size, whose = shape[0], path
    if size is None:
        raise TraceTypeError(f"{name} over nothing: give length=")
    if size < 1:
        raise TraceValueError(f"{name} of {size} rounds: its results would have no elements; give one at least")
    return size


def _pair(returned: Any) -> tuple[Any, Any]:
    if not isinstance(returned, tuple) or len(returned) != 2:
        kind = f"{len(returned)} values" if isinstance(returned, tuple) else f"a {type(returned).__name__}"
        raise TraceTypeError(f"scan: f gives {kind}; give the next carry and a result: return carry, y")
    return returned


def _place(body: Body, rounds: int, reverse: bool) -> ir.Value:
    """The number of the element that this iteration is for."""
    counter = body.block.arguments[0]
    return arith.subi(index_constant(rounds - 1), counter) if reverse else counter


def _row(trace: Trace, whole: Any, value: ir.Value, place: ir.Value) -> Any:
    """Element ``place`` along the first axis."""
    shape, dtype = whole.shape[1:], whole.dtype
    op = tensor.ExtractSliceOp(trace.tensor_type(shape, dtype), value, [place], [], [], *_one_row(value.type.shape[1:]))
    return trace.wrap(op.result, shape, dtype)


def _with_row(value: ir.Value, whole: ir.Value, place: ir.Value) -> ir.Value:
    """``whole`` with ``value`` as element ``place`` along the first axis."""
    return tensor.InsertSliceOp(value, whole, [place], [], [], *_one_row(value.type.shape)).result


def _one_row(shape: Sequence[int]) -> tuple[list[int], list[int], list[int]]:
    """Offsets, sizes and strides of a slice at a place that is known at run time along the first axis."""
    return [ir.ShapedType.get_dynamic_stride_or_offset(), *(0 for _ in shape)], [1, *shape], [1] * (len(shape) + 1)


def _scan_arrays(f: Callable[[Any, Any], Any], carry: Any, over: Tree, rounds: int, reverse: bool) -> tuple[Any, Any]:
    """The same on arrays, outside of traced functions."""
    results: list[Tree] = []
    for place in range(rounds)[:: -1 if reverse else 1]:
        carry, given = _pair(f(carry, over.nested([leaf[place] for leaf in over.leaves])))
        results.append(tree(given, "the result"))
    columns = zip(*(each.leaves for each in results[:: -1 if reverse else 1]), strict=True)
    return carry, results[0].nested([stacked(column) for column in columns])
