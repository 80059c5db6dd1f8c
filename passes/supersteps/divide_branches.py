"""``ipu-divide-branches``: bufferization need not compare all branches inside each other at once."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from ipu_mlir.dialects.analysis.control_flow import is_branch, is_loop, is_terminator
from ipu_mlir.dialects.analysis.loop_nest import is_structured, num_outputs
from ipu_mlir.dialects.analysis.matchers import block_of, defining_op, ops_around, terminator
from ipu_mlir.dialects.analysis.outlined_calls import callee_of
from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.passes.core.base import Pass
from ipu_mlir.passes.support.clone import Known, clone_into, operands_from_outside
from ipu_mlir.passes.support.rewriting import list_outside_bodies
from ipu_mlir.passes.support.tensor_views import VIEW_OPS
from ipu_mlir.passes.support.value_attributes import set_function_type, set_value_attributes, value_attributes

DIVIDED = "ipu.divided"
"""On a function that holds a branch which ``ipu-rejoin-branches`` puts back."""


@dataclass(frozen=True)
class DivideBranches(Pass):
    """Put branches that stand inside others into functions, a few in each.

    ``one-shot-bufferize`` asks of each pair of a read and a write of a buffer which other writes stand between them,
    among all the branches in whose place one result comes: the time of the fourth power of their number. It takes the
    functions one after the other, and what one does to its arguments is all that its caller has to know.

    A branch that gives part of a tensor stays: at the boundary of a function that part would be copied. A tensor that
    is needed after a branch, or again in the next round of a loop, is marked as one that the function must not write.

    Needs:  placed tensors, without casts between mappings (``ipu-materialize-casts``).
    Leaves: no more than about twice ``most`` branches with tensors as results inside each other in one function; each
            of the new functions is private, is called once and has the attribute ``ipu.divided``.
    """

    name = "ipu-divide-branches"

    most: int = 16

    def run(self, module: ir.Operation) -> None:
        inside: dict[ir.Operation, int] = {}
        functions = _Functions(module.regions[0].blocks[0])
        with module.context:
            for op in reversed(list_outside_bodies(module)):  # inner ones first
                if not is_branch(op) or not any(isinstance(each.type, ir.RankedTensorType) for each in op.results):
                    continue
                count = inside.pop(op, 0) + 1
                around = next((each for each in ops_around(op.parent.operation) if is_branch(each)), None)
                if around is None:
                    continue
                if count >= self.most and not _gives_part(op):
                    functions.move(op)
                    count = 0
                inside[around] = inside.get(around, 0) + count


def _gives_part(branch: ir.Operation) -> bool:
    """True if a result of ``branch`` is a view of another tensor."""
    ends = [terminator(region.blocks[0]) for region in branch.regions]
    return any(defining_op(value, *VIEW_OPS) is not None for end in ends for value in end.operands)


@dataclass
class _Functions:
    """The functions that branches were moved to.

    Attributes:
        top: the block of the module.
        only_read: by the name of each function, the numbers of its arguments that nothing in it may write.
    """

    top: ir.Block
    only_read: dict[str, frozenset[int]] = field(default_factory=dict)

    def move(self, branch: ir.Operation) -> None:
        """Put a call of a new function in the place of ``branch``."""
        func = upstream("func")
        name = f"{DIVIDED}.{len(self.only_read)}"
        with ir.InsertionPoint.at_block_begin(self.top), branch.location:
            function = func.FuncOp(name, ([], []), visibility="private").operation
        function.attributes[DIVIDED] = ir.UnitAttr.get()
        block = ir.Block.create_at_start(function.regions[0], [], [])
        known: Known = {}
        for value in dict.fromkeys(operands_from_outside(branch)):
            _take(value, block, known)
        given = [value for value, inside in known.items() if isinstance(inside.owner, ir.Block)]
        for op in _ops_in(branch):
            for number, value in enumerate(op.operands):
                if value in known:
                    op.operands[number] = known[value]
        only_read = self.only_read[name] = frozenset(
            number for number, argument in enumerate(block.arguments) if self._is_only_read(argument)
        )
        with ir.InsertionPoint(branch), branch.location:
            call = func.CallOp([each.type for each in branch.results], name, given).operation
        for old, new in zip(branch.results, call.results, strict=True):
            old.replace_all_uses_with(new)
        with ir.InsertionPoint(block), branch.location:
            end = func.ReturnOp(list(branch.results)).operation
        branch.move_before(end)
        set_function_type(function)
        keep = {"bufferization.writable": ir.BoolAttr.get(False)}
        needed = [number not in only_read and _is_needed_after(value, call) for number, value in enumerate(given)]
        set_value_attributes(function, "arg_attrs", [keep if each else {} for each in needed])

    def _is_only_read(self, value: ir.Value) -> bool:
        """True if no op writes to the memory of ``value``, and no other tensor is it."""
        for use in value.uses:
            user, number = use.owner.operation, use.operand_number
            if user.name in VIEW_OPS:
                reads = all(self._is_only_read(result) for result in user.results)
            elif user.name == "func.call":
                reads = number in self.only_read.get(callee_of(user), ())
            elif is_structured(user):
                reads = number < len(user.operands) - num_outputs(user)
            else:
                reads = not any(isinstance(each.type, ir.RankedTensorType) for each in user.results)
                reads = reads and not is_terminator(user)
            if not reads:
                return False
        return True


def _take(value: ir.Value, block: ir.Block, known: Known) -> None:
    """Let ``known`` have an argument of ``block`` for ``value``; for a view, one for the tensor that it shows part of,
    and a view of it.
    """
    view = defining_op(value, *VIEW_OPS)
    if value in known:
        return
    if view is None:
        known[value] = block.add_argument(value.type, ir.Location.unknown())
        return
    for each in view.operands:
        _take(each, block, known)
    with ir.InsertionPoint(block):
        clone_into(view, known)


def _ops_in(op: ir.Operation) -> Iterator[ir.Operation]:
    """``op`` and the ops inside it."""
    yield op
    for region in op.regions:
        for block in region.blocks:
            for inner in block.operations:
                yield from _ops_in(inner.operation)


def _is_needed_after(value: ir.Value, call: ir.Operation) -> bool:
    """True if ``value``, or a view of it, may be read when ``call`` is done, or nobody may write it at all."""
    owner = block_of(value).owner.operation
    if not isinstance(value.type, ir.RankedTensorType):
        return False
    if defining_op(value, "arith.constant") is not None or _is_read_only(value, owner):
        return True
    around = list(ops_around(call))
    if any(is_loop(each) for each in (around[: around.index(owner)] if owner in around else around)):
        return True
    blocks = {each.block: each for each in around}
    pending = [value]
    while pending:
        for use in pending.pop().uses:
            user = use.owner.operation
            if user.name in VIEW_OPS:
                pending.extend(user.results)
            beside = next(each for each in ops_around(user) if each.block in blocks)
            before = blocks[beside.block]
            if before != beside and before.is_before_in_block(beside):
                return True
    return False


def _is_read_only(value: ir.Value, owner: ir.Operation) -> bool:
    """True if ``value`` is an argument of the function ``owner`` that says that it must not be written."""
    if owner.name != "func.func" or defining_op(value) is not None:
        return False
    writable = value_attributes(owner, "arg_attrs")[ir.BlockArgument(value).arg_number].get("bufferization.writable")
    return writable is not None and not ir.BoolAttr(writable).value
