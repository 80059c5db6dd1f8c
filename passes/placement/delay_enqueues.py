"""``ipu-delay-enqueues``: what an iteration of a loop gives to the host goes out in the next iteration."""

from ipu_mlir.dialects.analysis.control_flow import control_op
from ipu_mlir.dialects.analysis.host_calls import HostCall
from ipu_mlir.dialects.analysis.matchers import terminator
from ipu_mlir.dialects.analysis.queues import queue_of
from ipu_mlir.dialects.attributes.attributes import module_target
from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.passes.core.base import Pass
from ipu_mlir.passes.support.clone import Known, clone_into
from ipu_mlir.passes.support.linalg_builders import fill_with, zero
from ipu_mlir.passes.support.rewriting import list_ops

_TAKE = ("ipu.dequeue", "ipu.element")
_GIVE = ("ipu.put", "ipu.enqueue")


class DelayEnqueues(Pass):
    """Give elements to outfeeds one iteration later, behind what a loop takes from its infeeds.

    I/O tiles do one thing after another. A result that they wait for at the end of an iteration keeps them from taking
    the next element meanwhile; with the result of the iteration before, they send and then take while others compute.
    The loop carries what it gives; what the last iteration gives goes out behind the loop. The order of elements stays.

    A host that gives an element only after it has seen the result of the one before would wait for ever: queues of such
    a program are marked with ``at_once``, and stay as they are.

    Needs:  linalg on tensors, before host data is put on I/O tiles (``ipu-use-io-tiles``).
    Leaves: no ``ipu.enqueue`` behind the last ``ipu.dequeue`` of a loop that runs at least twice, a known number of
            times, and asks the host for nothing else. Nothing changes for a target without I/O tiles, nor for several
            IPUs, where those that give mostly have other I/O tiles than those that take.
    """

    name = "ipu-delay-enqueues"

    def run(self, module: ir.Operation) -> None:
        target = module_target(module)
        if not target.io_tiles or target.ipus > 1:
            return
        with module.context:
            at_once = {
                ir.StringAttr(op.attributes["sym_name"]).value
                for op in list_ops(module, "ipu.outfeed")
                if "at_once" in op.attributes
            }
            for loop in list_ops(module, "scf.for"):
                late = _late_ops(loop, at_once)
                if late:
                    _delay(loop, late)


def _late_ops(loop: ir.Operation, at_once: set[str]) -> list[ir.Operation]:
    """The ops of ``loop`` that give elements behind all that it takes; none where they cannot be delayed."""
    row = control_op(loop)
    count = None if row is None else row.trip_count(loop)
    if count is None or count < 2:
        return []
    body = [op.operation for op in loop.regions[0].blocks[0].operations]
    asks = [op for op in list_ops(loop) if op != loop and _asks_host(op)]
    taken = [number for number, op in enumerate(body) if op.name in _TAKE]
    late = [op for op in body[taken[-1] :] if op.name in _GIVE] if taken else []
    if not late or len(asks) != len(taken) + len(late):
        return []
    kept = at_once & {queue_of(op) for op in late}
    is_tensor = all(isinstance(op.operands[0].type, ir.RankedTensorType) for op in late if op.name == "ipu.put")
    return late if is_tensor and not kept else []


def _asks_host(op: ir.Operation) -> bool:
    is_call = isinstance(getattr(op.opview, "host_call", None), HostCall)
    return is_call or op.name in (*_TAKE, *_GIVE) or op.name == "func.call"


def _delay(loop: ir.Operation, late: list[ir.Operation]) -> None:
    given = list(dict.fromkeys(op.operands[0] for op in late if op.name == "ipu.put"))
    scf, arith = upstream("scf"), upstream("arith")
    carried = len(loop.results)
    with ir.InsertionPoint(loop), loop.location:
        starts = [_nothing(value.type) for value in given]
        new = scf.ForOp(*list(loop.operands)[:3], [*list(loop.operands)[3:], *starts]).operation
    for name in loop.attributes:
        new.attributes[name] = loop.attributes[name]
    old, block = loop.regions[0].blocks[0], new.regions[0].blocks[0]
    known: Known = dict(zip(old.arguments, list(block.arguments)[: carried + 1], strict=True))
    before = list(block.arguments)[carried + 1 :]
    body = [op.operation for op in old.operations]
    last_taken = [op for op in body if op.name in _TAKE][-1]
    end = terminator(old)
    with ir.InsertionPoint(block):
        for op in body:
            if op == end:
                values = [known.get(value, value) for value in (*op.operands, *given)]
                scf.YieldOp(values, loc=op.location)
            elif all(op != each for each in late):
                clone_into(op, known)
            if op == last_taken:
                with op.location:
                    is_later = arith.CmpIOp(arith.CmpIPredicate.ne, block.arguments[0], new.operands[0]).result
                    branch = scf.IfOp(is_later)
                with ir.InsertionPoint(branch.then_block):
                    _give(late, dict(zip(given, before, strict=True)))
                    scf.YieldOp([], loc=op.location)
    with ir.InsertionPoint.after(new):
        _give(late, dict(zip(given, list(new.results)[carried:], strict=True)))
    for old_result, result in zip(loop.results, list(new.results)[:carried], strict=True):
        old_result.replace_all_uses_with(result)
    loop.erase()


def _give(late: list[ir.Operation], values: Known) -> None:
    for op in late:
        clone_into(op, dict(values))


def _nothing(type_: ir.RankedTensorType) -> ir.Value:
    """What the loop starts from, which is never given."""
    empty = upstream("tensor").EmptyOp(list(type_.shape), type_.element_type).result
    return fill_with(zero(type_.element_type), empty).results[0]
