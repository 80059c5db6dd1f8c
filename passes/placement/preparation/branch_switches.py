"""``ipu-branch-switches``: switches with tensors as results become branches."""

from collections.abc import Sequence
from itertools import pairwise

from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.passes.core.base import Pass
from ipu_mlir.passes.support.linalg_builders import constant_index
from ipu_mlir.passes.support.rewriting import list_ops, replace_op

_LONGEST_CHAIN = 4
Case = tuple[int, ir.Block]


class BranchSwitches(Pass):
    """Write scf.index_switch with tensors as results as ``scf.if`` inside each other.

    Bufferization does not see that the result of a switch may be a tensor from outside of it, and lets others write
    there; of ``scf.if`` it knows. Up to four cases are tested one after another. Of more, one test separates the
    default from the cases, and each of the following ones halves the cases that are left: a thousand cases take eleven
    tests, and stand in eleven branches.

    Needs:  nothing.
    Leaves: no ``scf.index_switch`` that has a tensor as result.
    """

    name = "ipu-branch-switches"

    def run(self, module: ir.Operation) -> None:
        with module.context:
            for switch in list_ops(module, "scf.index_switch"):
                if any(isinstance(result.type, ir.RankedTensorType) for result in switch.results):
                    _branch(switch)


def _branch(switch: ir.Operation) -> None:
    numbers = list(ir.DenseI64ArrayAttr(switch.attributes["cases"]))
    default, *blocks = [region.blocks[0] for region in switch.regions]
    if not numbers:
        return
    cases = list(zip(numbers, blocks, strict=True))
    with ir.InsertionPoint(switch), switch.location:
        if len(cases) <= _LONGEST_CHAIN:
            results = _chain(switch, cases, default)
        else:
            cases.sort(key=lambda case: case[0])
            branch = _branch_op(switch, _is_any(switch.operands[0], [number for number, _ in cases]))
            _halve(switch, cases, branch.regions[0])
            default.append_to(branch.regions[1])
            results = list(branch.results)
    replace_op(switch, results)


def _branch_op(switch: ir.Operation, condition: ir.Value) -> ir.Operation:
    """A branch with the results of ``switch``, whose regions are to be filled."""
    types = [result.type for result in switch.results]
    return ir.Operation.create("scf.if", results=types, operands=[condition], regions=2)


def _chain(switch: ir.Operation, cases: list[Case], default: ir.Block) -> list[ir.Value]:
    """The results of a branch for the first of ``cases``, in whose else the others follow."""
    (number, block), *others = cases
    arith = upstream("arith")
    wanted = constant_index(number)
    branch = _branch_op(switch, arith.CmpIOp(arith.CmpIPredicate.eq, switch.operands[0], wanted).result)
    block.append_to(branch.regions[0])
    if not others:
        default.append_to(branch.regions[1])
        return list(branch.results)
    otherwise = ir.Block.create_at_start(branch.regions[1], [], [])
    with ir.InsertionPoint(otherwise):
        upstream("scf").YieldOp(_chain(switch, others, default))
    return list(branch.results)


def _halve(switch: ir.Operation, cases: list[Case], region: ir.Region) -> None:
    """Fill ``region`` with a choice between ``cases``, of which one is taken, in the order of their numbers."""
    if len(cases) == 1:
        cases[0][1].append_to(region)
        return
    arith, half = upstream("arith"), len(cases) // 2
    with ir.InsertionPoint(ir.Block.create_at_start(region, [], [])):
        first_above = constant_index(cases[half][0])
        is_below = arith.CmpIOp(arith.CmpIPredicate.slt, switch.operands[0], first_above).result
        branch = _branch_op(switch, is_below)
        upstream("scf").YieldOp(list(branch.results))
        _halve(switch, cases[:half], branch.regions[0])
        _halve(switch, cases[half:], branch.regions[1])


def _is_any(value: ir.Value, numbers: Sequence[int]) -> ir.Value:
    """True if ``value`` is one of ``numbers``: one test for each run of neighbours."""
    arith = upstream("arith")
    tests: list[ir.Value] = []
    for first, count in runs(numbers):
        from_first = arith.SubIOp(value, constant_index(first)).result
        tests.append(arith.CmpIOp(arith.CmpIPredicate.ult, from_first, constant_index(count)).result)
    while len(tests) > 1:
        pairs = [arith.OrIOp(a, b).result for a, b in zip(tests[::2], tests[1::2], strict=False)]
        tests = pairs + tests[len(pairs) * 2 :]
    return tests[0]


def runs(numbers: Sequence[int]) -> list[tuple[int, int]]:
    """The first of each run of neighbours in ascending ``numbers``, and how many they are.

    >>> runs([-1, 0, 1, 5, 7, 8])
    [(-1, 3), (5, 1), (7, 2)]
    """
    starts = [0, *(at for at, (a, b) in enumerate(pairwise(numbers), 1) if b != a + 1), len(numbers)]
    return [(numbers[start], end - start) for start, end in pairwise(starts)]
