"""``ipu-merge-loops``: a loop whose results another one computes as well does not run."""

from collections.abc import Hashable
from itertools import permutations

from ipu_mlir.dialects.analysis.control_flow import CONTROL_OPS, control_op, is_terminator
from ipu_mlir.dialects.analysis.matchers import around_in, defining_op, ops_around, terminator
from ipu_mlir.dialects.support.bindings import ir, passmanager
from ipu_mlir.passes.core.base import Pass
from ipu_mlir.passes.support.rewriting import list_ops, replace_op

_PREPARE = "builtin.module(func.func(convert-elementwise-to-linalg,linalg-generalize-named-ops),cse)"
"""Gradients consist of generic ops, so that what they copy is compared with such."""

_PURE = ("arith.", "complex.", "linalg.", "math.", "tensor.")


_ANYWHERE = ("arith.constant", "tensor.empty")
"""Ops that are the same wherever they stand."""


class MergeLoops(Pass):
    """Take the results of a loop from another one that carries the same values, and maybe more.

    A gradient runs a loop forwards once more, to store what the backward loop reads, as all of ``ipu.vjp`` do whose
    value the program uses, and recurrent layers of PyTorch. The loop with more takes the place of the other one.

    Needs:  linalg on tensors, where calls are inlined (``inline``).
    Leaves: no ``scf.for`` without effects beside one of the same block that begins with the same values, in the same
            order, and computes the same of them, unless that one waits for it.
    """

    name = "ipu-merge-loops"

    def run(self, module: ir.Operation) -> None:
        if not _alike(module):
            return
        with module.context:
            passmanager.PassManager.parse(_PREPARE).run(module)
            for loops in _alike(module):
                _merge(loops)


def _alike(module: ir.Operation) -> list[list[ir.Operation]]:
    """Loops of one block without effects and with the same number of iterations, where there are several."""
    found: dict[Hashable, list[ir.Operation]] = {}
    for loop in list_ops(module, *CONTROL_OPS):
        count = CONTROL_OPS[loop.name].trip_count(loop)
        if count is not None and len(loop.results) and _is_pure(loop):
            found.setdefault((loop.block.owner.operation, count), []).append(loop)
    return [loops for loops in found.values() if len(loops) > 1]


def _merge(loops: list[ir.Operation]) -> None:
    while (found := _pair(loops)) is not None:
        less, more, places = found
        loops.remove(less)
        replace_op(less, [more.results[place] for place in places])


def _pair(loops: list[ir.Operation]) -> tuple[ir.Operation, ir.Operation, list[int]] | None:
    """A loop, another one in front of it that has its results, and which of them; None if there is none."""
    numbers: dict[Hashable, int] = {}
    for less, more in permutations(loops, 2):
        places = _places(less, more)
        if places is not None and _computes(less, more, places, numbers) and _move_before(more, less):
            return less, more, places
    return None


def _is_pure(op: ir.Operation) -> bool:
    ops = list_ops(op)
    return all(each.name.startswith(_PURE) or control_op(each) is not None or is_terminator(each) for each in ops)


def _places(less: ir.Operation, more: ir.Operation) -> list[int] | None:
    """For each value that ``less`` carries the number of the one of ``more`` that begins with the same; in order."""
    if list(less.operands)[:3] != list(more.operands)[:3]:
        return None
    starts, places = [_called(value, {}) for value in list(more.operands)[3:]], list[int]()
    for start in [_called(value, {}) for value in list(less.operands)[3:]]:
        first = places[-1] + 1 if places else 0
        place = next((each for each in range(first, len(starts)) if starts[each] == start), None)
        if place is None:
            return None
        places.append(place)
    return places


_Names = dict[ir.Value, Hashable]
"""What values are called: equal values have equal names."""


def _computes(less: ir.Operation, more: ir.Operation, places: list[int], numbers: dict[Hashable, int]) -> bool:
    """True if ``more`` hands on at ``places`` what ``less`` does, as long as they were given the same."""
    yielded = _yielded(more, range(len(more.results)), numbers)
    return _yielded(less, places, numbers) == [yielded[place] for place in places]


def _yielded(loop: ir.Operation, names: "list[int] | range", numbers: dict[Hashable, int]) -> list[Hashable]:
    """The names of what ``loop`` hands on if it carries values of these ``names``."""
    block = loop.regions[0].blocks[0]
    known: _Names = dict(zip(block.arguments, ("counter", *names), strict=True))
    for op in block.operations:
        _name(op.operation, known, numbers)
    return [_called(value, known) for value in terminator(block).operands]


def _called(value: ir.Value, known: _Names) -> Hashable:
    """The name of ``value``; of a constant or an empty tensor what it is, wherever it is made."""
    if value in known:
        return known[value]
    made = defining_op(value, *_ANYWHERE)
    return value if made is None else (made.name, value.type, made.attributes.get("value"), *made.operands)


def _name(op: ir.Operation, known: _Names, numbers: dict[Hashable, int]) -> Hashable:
    """Name the results of ``op`` by all that it is; what it is."""
    what = (
        op.name,
        tuple(_called(value, known) for value in op.operands),
        tuple(result.type for result in op.results),
        tuple((name, op.attributes[name]) for name in sorted(op.attributes)),
        tuple(_name_block(block, known, numbers) for region in op.regions for block in region.blocks),
    )
    number = numbers.setdefault(what, len(numbers))
    if op.name not in _ANYWHERE:
        known.update({result: ("op", number, place) for place, result in enumerate(op.results)})
    return number


def _name_block(block: ir.Block, known: _Names, numbers: dict[Hashable, int]) -> Hashable:
    depth = len(list(ops_around(block.owner.operation)))
    known.update({each: ("argument", depth, each.arg_number) for each in block.arguments})
    kinds = tuple(each.type for each in block.arguments)
    ops = [op.operation for op in block.operations if op.operation.name not in _ANYWHERE]
    return (kinds, *(_name(op, known, numbers) for op in ops))


def _move_before(more: ir.Operation, less: ir.Operation) -> bool:
    """Let ``more`` stand before ``less``, with what it needs; False if that cannot be."""
    if more.is_before_in_block(less):
        return True
    moving: dict[ir.Operation, None] = {}

    def gather(op: ir.Operation) -> bool:
        """Note ``op`` behind what it needs; False if that is ``less``, or has effects."""
        if op == less or not _is_pure(op):
            return False
        for value in [value for each in list_ops(op) for value in each.operands]:
            made = around_in(owner, less.block) if (owner := defining_op(value)) is not None else None
            if made is None or made == op or made in moving or made.is_before_in_block(less):
                continue
            if not gather(made):
                return False
        moving[op] = None
        return True

    if not gather(more):
        return False
    for op in moving:
        op.move_before(less)
    return True
