"""Run a reduction in steps: ops over blocks of a reduced loop, each of which adds to what the last one left."""

from ipu_mlir.dialects.analysis.index import Index
from ipu_mlir.dialects.analysis.loop_nest import LoopNest, indexing_maps, reads_operand
from ipu_mlir.dialects.analysis.recurrent_cells import family_mark
from ipu_mlir.dialects.codelets.library import LIBRARY
from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.passes.support.linalg_builders import bodiless_generic
from ipu_mlir.passes.support.reduction_marks import STEP, marks_of, step_mark
from ipu_mlir.passes.support.rewriting import replace_op
from ipu_mlir.passes.support.tensor_views import view_of


def step_loops(op: ir.Operation, nest: LoopNest, splittable: bool) -> tuple[int, ...]:
    """The reduced loops of ``op`` over blocks of which it can run one after another; ``splittable`` as ``can_split``.

    A codelet says itself whether it can: a scatter keeps the order of its updates over the outermost loop only.
    """
    reduced = [loop for loop, parallel in enumerate(nest.parallel) if not parallel and nest.extents[loop] > 1]
    if _runs_codelet_in_steps(op):
        reduced = reduced[:1]
    elif not splittable or nest.loads or _uses_loop_numbers(op):
        return ()
    inputs = range(nest.num_inputs)
    return tuple(loop for loop in reduced if all(_can_slice(op, nest, number, loop) for number in inputs))


def run_in_steps(op: ir.Operation, nest: LoopNest, loop: int, block: int) -> list[ir.Operation]:
    """Replace ``op`` by one op per block of ``loop``; the inputs of each are slices, which move nothing.

    Returns:
        the ops, in order; the last one may have a smaller block. Steps of reductions are marked with the loop and
        where they begin in it.
    """
    maps = indexing_maps(op)
    assert maps is not None, "an op with a loop nest has indexing maps"
    so_far = op.operands[nest.num_inputs]
    made = []
    with ir.InsertionPoint(op), op.location:
        for start in range(0, nest.extents[loop], block):
            size = min(block, nest.extents[loop] - start)
            inputs = [
                _slice(op.operands[n], nest.indices[n], loop, start, nest.extents[loop] - size)
                for n in range(nest.num_inputs)
            ]
            codelet = _codelet(op)  # whose steps nothing puts together again
            attributes = codelet or {**marks_of(op), **family_mark(op), STEP: step_mark(loop, start)}
            step = bodiless_generic(inputs, [so_far], maps, nest.parallel, attributes)
            _copy_body(op, step)
            made.append(step)
            so_far = step.results[0]
    replace_op(op, [so_far])
    return made


def _runs_codelet_in_steps(op: ir.Operation) -> bool:
    name = _codelet(op).get("library_call")
    codelet = None if name is None else LIBRARY.get(ir.StringAttr(name).value)
    return codelet is not None and codelet.in_steps


def _codelet(op: ir.Operation) -> dict[str, ir.Attribute]:
    """The attribute that names a library codelet, if ``op`` has it."""
    return {name: op.attributes[name] for name in ("library_call",) if name in op.attributes}


def _copy_body(op: ir.Operation, into: ir.Operation) -> None:
    copy = op.clone()
    copy.regions[0].blocks[0].append_to(into.regions[0])
    copy.erase()


def _uses_loop_numbers(op: ir.Operation) -> bool:
    return any(inner.operation.name == "linalg.index" for inner in op.regions[0].blocks[0].operations)


def _can_slice(op: ir.Operation, nest: LoopNest, number: int, loop: int) -> bool:
    """True if what a block of ``loop`` touches of that input is a slice, evenly spaced as all views have to be."""
    value = op.operands[number]
    if not isinstance(value.type, ir.RankedTensorType):
        return True
    indices = nest.indices[number]
    if not all(index.linear and index.coefficients[loop] >= 0 for index in indices):
        return False
    if not any(index.coefficients[loop] for index in indices):
        return True
    found = view_of(value)
    return reads_operand(op, number) and found is not None and len(found[1].shape) == len(indices)


def _slice(value: ir.Value, indices: tuple[Index, ...], loop: int, start: int, left_out: int) -> ir.Value:
    """The slice of ``value`` for the iterations from ``start`` on, without ``left_out`` of them."""
    steps = [index.coefficients[loop] for index in indices]
    if not any(steps):
        return value
    offsets = [step * start for step in steps]
    sizes = [size - step * left_out for size, step in zip(value.type.shape, steps, strict=True)]
    wanted = ir.RankedTensorType.get(sizes, value.type.element_type)
    slice_op = upstream("tensor").ExtractSliceOp(wanted, value, [], [], [], offsets, sizes, [1] * len(sizes))
    return slice_op.result
