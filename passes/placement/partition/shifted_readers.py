"""How far ops reach that will read a tensor from several places on."""

from collections import defaultdict

from ipu_mlir.dialects.analysis.control_flow import flows
from ipu_mlir.dialects.analysis.loop_nest import is_structured
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.passes.support.tensor_views import slice_offsets


def reach_of_readers(value: ir.Value) -> tuple[int, ...]:
    """In each dimension of ``value``, how far apart the slices begin that one op reads of it, at most.

    Loops that ``value`` goes into are followed, and what is made of it by a border around it. Slices that begin further
    apart than they are long are no shifts.
    """
    reach = (0,) * len(value.type.shape)
    seen, waiting = {value}, [value]
    while waiting:
        each = waiting.pop()
        reach = tuple(map(max, reach, _reach_of_slices(each)))
        for use in each.uses:
            padded = use.owner.operation.results
            if use.owner.operation.name == "tensor.insert_slice" and len(padded[0].type.shape) == len(reach):
                waiting += {padded[0]} - seen
                seen.add(padded[0])
            for flow in flows(use.owner.operation):
                place = use.operand_number - flow.first
                if flow.source == use.owner.operation and 0 <= place < len(flow.targets):
                    waiting += {flow.targets[place]} - seen
                    seen.add(flow.targets[place])
    return reach


def _reach_of_slices(value: ir.Value) -> tuple[int, ...]:
    """As ``reach_of_readers``, of ``value`` itself."""
    slices: dict[ir.Operation, list[ir.Operation]] = defaultdict(list)
    for use in value.uses:
        user = use.owner.operation
        if user.name == "tensor.extract_slice" and len(user.results[0].type.shape) == len(value.type.shape):
            for reader in {use.owner.operation for use in user.results[0].uses if is_structured(use.owner.operation)}:
                slices[reader].append(user)
    reach = (0,) * len(value.type.shape)
    for taken in slices.values():
        shapes = {tuple(each.results[0].type.shape) for each in taken}
        if len(shapes) > 1 or any(len(each.operands) > 1 for each in taken):
            continue
        far = [max(begins) - min(begins) for begins in zip(*map(slice_offsets, taken), strict=True)]
        if all(distance < max(1, size) for distance, size in zip(far, *shapes, strict=True)):
            reach = tuple(map(max, reach, far))
    return reach
