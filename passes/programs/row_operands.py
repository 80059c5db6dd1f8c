"""Rows of remote memory that calls of an outlined function load for it, and store after it."""

from collections.abc import Iterator
from dataclasses import dataclass

from ipu_mlir.dialects.analysis.matchers import defining_op, integer_of
from ipu_mlir.dialects.analysis.outlined_calls import OUTLINED, callee_of, calls_in
from ipu_mlir.dialects.analysis.remote import MOVES, STORES, moved_and_rows, remote_buffer_of
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.passes.support.rewriting import list_ops


@dataclass(frozen=True)
class MovedPlace:
    """An argument of a function that each call loads a row for, or a result that each call stores to a row.

    Attributes:
        number: that of the argument, or of the result.
        moves: the load or the store of each call.
    """

    is_result: bool
    number: int
    moves: tuple[ir.Operation, ...]

    @property
    def buffers(self) -> list[str]:
        """The names of the buffers that calls move rows of."""
        return list(dict.fromkeys(map(remote_buffer_of, self.moves)))


class RowsOfCalls:
    """Of a module whose rows are moved in the order of the program: what calls could leave to what they call."""

    def __init__(self, module: ir.Operation) -> None:
        self._functions = {ir.StringAttr(op.attributes["sym_name"]).value: op for op in list_ops(module, "func.func")}
        self._calls: dict[str, list[ir.Operation]] = {}
        for call in list_ops(module, "func.call"):
            self._calls.setdefault(callee_of(call), []).append(call)
        self._blocks: dict[ir.Block, list[ir.Operation]] = {}

    def calls(self, name: str) -> list[ir.Operation]:
        """The calls of function ``name``; none unless all of them stay, and there are several."""
        found = self._calls.get(name, [])
        return found if len(found) > 1 and all(OUTLINED in call.attributes for call in found) else []

    def places(self, name: str) -> list[MovedPlace]:
        """Arguments and results of function ``name`` whose rows it could move itself, stores in their order.

        Nothing that works on such a row stands between the call and the load or the store.
        """
        calls = self.calls(name)
        if not calls:
            return []
        loads = [self._loads(call) for call in calls]
        stores = [self._stores(call) for call in calls]
        return [
            MovedPlace(is_result, number, tuple(each[number] for each in found))
            for is_result, found in ((False, loads), (True, stores))
            for number in found[0]
            if all(number in each for each in found)
        ]

    def _loads(self, call: ir.Operation) -> dict[int, ir.Operation]:
        """By number of the operand, the load that it alone uses."""
        found = {}
        for number, value in enumerate(call.operands):
            load = defining_op(value, "ipu.remote_load")
            if load is None or load.block != call.block or len(list(value.uses)) != 1 or not _is_known_row(load):
                continue
            if not any(self._works_on_row(op, load, STORES) for op in self._between(load, call)):
                found[number] = load
        return found

    def _stores(self, call: ir.Operation) -> dict[int, ir.Operation]:
        """By number of the result, the store of it, in the order of the stores."""
        found: dict[int, ir.Operation] = {}
        uses = [(number, use.owner.operation) for number, value in enumerate(call.results) for use in value.uses]
        after = self._after(call)
        stores = {
            op: number for number, op in uses if op.name == "ipu.remote_store" and op in after and _is_known_row(op)
        }
        passed: list[ir.Operation] = []
        for op in after if stores else ():
            number = stores.get(op)
            if number is None or number in found or any(self._works_on_row(each, op, MOVES) for each in passed):
                passed.append(op)
            else:
                found[number] = op
        return found

    def _works_on_row(self, op: ir.Operation, move: ir.Operation, names: frozenset[str]) -> bool:
        """True if ``op``, or what is inside of it or called by it, is one of ``names`` on the row of ``move``."""
        row = integer_of(moved_and_rows(move)[1])
        for each in self._moves(op, names, ()):
            if remote_buffer_of(each) == remote_buffer_of(move):
                other = integer_of(moved_and_rows(each)[1])
                if row is None or other is None or row == other:
                    return True
        return False

    def _moves(self, op: ir.Operation, names: frozenset[str], around: tuple[str, ...]) -> Iterator[ir.Operation]:
        yield from list_ops(op, *names)
        for call in calls_in(op):
            if (name := callee_of(call)) in self._functions and name not in around:
                yield from self._moves(self._functions[name], names, (*around, name))

    def _of_block(self, block: ir.Block) -> list[ir.Operation]:
        if block not in self._blocks:
            self._blocks[block] = [each.operation for each in block.operations]
        return self._blocks[block]

    def _between(self, first: ir.Operation, last: ir.Operation) -> list[ir.Operation]:
        ops = self._of_block(first.block)
        return ops[ops.index(first) + 1 : ops.index(last)]

    def _after(self, op: ir.Operation) -> list[ir.Operation]:
        ops = self._of_block(op.block)
        return ops[ops.index(op) + 1 :]


def _is_known_row(move: ir.Operation) -> bool:
    """True if ``move`` is of one row whose number a call could pass: a constant, or an argument of a block."""
    moved, row = moved_and_rows(move)
    is_index = isinstance(row.type, ir.IndexType) and isinstance(moved.type, ir.RankedTensorType)
    return is_index and (integer_of(row) is not None or isinstance(row.owner, ir.Block))
