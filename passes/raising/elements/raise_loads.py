"""``ipu-raise-loads``: what a body loads at the numbers of its loops is an operand."""

from ipu_mlir.dialects.analysis.loop_nest import loop_nest
from ipu_mlir.dialects.analysis.matchers import is_made_inside, loop_of
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.passes.core.base import Pass
from ipu_mlir.passes.support.clone import Known, clone_into
from ipu_mlir.passes.support.linalg_builders import generic
from ipu_mlir.passes.support.rewriting import list_ops


class RaiseLoads(Pass):
    """Make operands of tensors that bodies load from where their loops are.

    Loops over elements have such loads. Operands lie where an op needs them, and a body that does nothing but load is
    none: ``canonicalize`` drops such an op.

    Needs:  linalg on tensors, loops raised (``ipu-raise-loops``).
    Leaves: no ``tensor.extract`` right in the body of a ``linalg.generic`` whose indices are loops, each over all of
            its dimension.
    """

    name = "ipu-raise-loads"

    def run(self, module: ir.Operation) -> None:
        with module.context:
            found: dict[ir.Operation, list[ir.Operation]] = {}
            for load in list_ops(module, "tensor.extract"):
                parent = load.parent
                if parent is not None and parent.name == "linalg.generic" and len(load.operands) > 1:
                    found.setdefault(parent.operation, []).append(load)
            for op, loads in found.items():
                _raise(op, loads)


def _raise(op: ir.Operation, loads: list[ir.Operation]) -> None:
    """Let ``op`` have what ``loads`` in its body read as operands, as far as they read where its loops are."""
    nest = None if "library_call" in op.attributes else loop_nest(op)
    if nest is None:
        return
    read: list[tuple[ir.Operation, ir.AffineMap]] = []
    for load in loads:
        source, *indices = load.operands
        places = [loop_of(index) for index in indices]
        sizes = [nest.extents[place] if place is not None else None for place in places]
        if sizes == list(source.type.shape) and not is_made_inside(source, op):
            dimensions = [ir.AffineExpr.get_dim(place) for place in places if place is not None]
            read.append((load, ir.AffineMap.get(len(nest.extents), 0, dimensions)))
    if not read:
        return
    inputs, outputs = list(op.operands)[: nest.num_inputs], list(op.operands)[nest.num_inputs :]
    maps = [attribute.value for attribute in op.attributes["indexing_maps"]]
    block = op.regions[0].blocks[0]

    def body(arguments: list[ir.Value]) -> list[ir.Value]:
        ahead, behind = nest.num_inputs, nest.num_inputs + len(read)
        known: Known = dict(zip(block.arguments, [*arguments[:ahead], *arguments[behind:]], strict=True))
        known.update((load.results[0], value) for (load, _), value in zip(read, arguments[ahead:behind], strict=True))
        *steps, end = block.operations
        for step in steps:
            if all(step.operation != load for load, _ in read):
                clone_into(step.operation, known)
        return [known.get(value, value) for value in end.operation.operands]

    own = ("indexing_maps", "iterator_types", "operandSegmentSizes")
    attributes = {name: op.attributes[name] for name in op.attributes if name not in own}
    with ir.InsertionPoint(op), op.location:
        made = generic(
            [*inputs, *(load.operands[0] for load, _ in read)],
            outputs,
            [*maps[: nest.num_inputs], *(each for _, each in read), *maps[nest.num_inputs :]],
            nest.parallel,
            body,
            attributes,
        )
    for old, new in zip(op.results, made.results, strict=True):
        old.replace_all_uses_with(new)
    op.erase()
