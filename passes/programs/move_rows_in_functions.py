"""``ipu-move-rows-in-functions``: outlined functions move the rows that they work on, which their callers name."""

from ipu_mlir.dialects.analysis.matchers import around_in, integer_of, terminator
from ipu_mlir.dialects.analysis.outlined_calls import callees_first
from ipu_mlir.dialects.analysis.remote import moved_and_rows
from ipu_mlir.dialects.ipu import RemoteLoadOp, RemoteStoreOp
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.passes.core.base import Pass
from ipu_mlir.passes.programs.row_operands import MovedPlace, RowsOfCalls
from ipu_mlir.passes.support.linalg_builders import constant_index
from ipu_mlir.passes.support.rewriting import list_ops
from ipu_mlir.passes.support.value_attributes import Which, set_value_attributes, value_attributes

Rows = tuple[ir.Value | int, ...]
"""The row of each call of a function."""


class MoveRowsInFunctions(Pass):
    """Let an outlined function load and store the rows that all of its calls load for it and store after it.

    The number of the row is an argument of it, so that the code that moves it stands in the program once. That takes
    one buffer with a row for each call (``ipu-merge-remote-buffers``).

    Needs:  functions that stay (``ipu-outline-functions``), and what differs between replicas (``ipu-mark-replicas``).
    Leaves: such functions with arguments of type ``index``, in the place of those that they load.
    """

    name = "ipu-move-rows-in-functions"

    def run(self, module: ir.Operation) -> None:
        if not list_ops(module, "func.call") or not list_ops(module, "ipu.remote_load", "ipu.remote_store"):
            return
        with module.context, ir.Location.unknown():
            for function in reversed(callees_first(list_ops(module, "func.func"))):  # what is called may call on
                rows = RowsOfCalls(module)
                name = ir.StringAttr(function.attributes["sym_name"]).value
                places = [place for place in rows.places(name) if len(place.buffers) == 1]
                if places and len(function.regions[0].blocks) == 1:
                    _move_in(function, rows.calls(name), places)


def _move_in(function: ir.Operation, calls: list[ir.Operation], places: list[MovedPlace]) -> None:
    block = function.regions[0].blocks[0]
    end = terminator(block)
    kept = {place.number for place in places if place.is_result and _is_used_elsewhere(place, calls)}
    gone = {which: {place.number for place in places if place.is_result == which} for which in (False, True)}
    gone[True] -= kept
    rows: dict[Rows, ir.Value] = {}
    for place in places:
        key = tuple(_row(each) for each in place.moves)
        if key not in rows:
            rows[key] = block.add_argument(ir.IndexType.get(), place.moves[0].location)
        symbol, value = place.moves[0].attributes["buffer"], moved_and_rows(place.moves[0])[0]
        if place.is_result:
            with ir.InsertionPoint(end), place.moves[0].location:
                RemoteStoreOp(buffer=symbol, value=end.operands[place.number], row=rows[key])
        elif (first := _first_user(block, block.arguments[place.number])) is not None:
            with ir.InsertionPoint(first), place.moves[0].location:
                loaded = RemoteLoadOp(buffer=symbol, row=rows[key], value=value.type).value
            block.arguments[place.number].replace_all_uses_with(loaded)
    _drop(function, gone, len(rows))
    stores, loads = ([op for each in places if each.is_result == which for op in each.moves] for which in (True, False))
    for op in stores:
        op.erase()
    for number, call in enumerate(calls):
        _call_with_rows(call, gone, [key[number] for key in rows])
    for op in loads:
        op.erase()


def _drop(function: ir.Operation, gone: dict[bool, set[int]], more: int) -> None:
    """Let ``function`` do without arguments and results, by their numbers, and say so; ``more`` arguments are new."""
    block = function.regions[0].blocks[0]
    arguments = [*value_attributes(function, "arg_attrs"), *({} for _ in range(more))]
    results = value_attributes(function, "res_attrs")
    for number in sorted(gone[False], reverse=True):
        block.erase_argument(number)
    end = terminator(block)
    with ir.InsertionPoint(end):
        values = [value for number, value in enumerate(end.operands) if number not in gone[True]]
        ir.Operation.create(end.name, [], values, loc=end.location)
    end.erase()
    kind = ir.FunctionType.get([each.type for each in block.arguments], [each.type for each in values])
    function.attributes["function_type"] = ir.TypeAttr.get(kind)
    entries: tuple[tuple[Which, list, set[int]], ...] = (
        ("arg_attrs", arguments, gone[False]),
        ("res_attrs", results, gone[True]),
    )
    for which, said, left_out in entries:
        set_value_attributes(function, which, [each for n, each in enumerate(said) if n not in left_out])


def _call_with_rows(call: ir.Operation, gone: dict[bool, set[int]], rows: list[ir.Value | int]) -> None:
    attributes = {entry: call.attributes[entry] for entry in call.attributes if entry not in ("arg_attrs", "res_attrs")}
    kept = [result for number, result in enumerate(call.results) if number not in gone[True]]
    with ir.InsertionPoint(call), call.location:
        handed = [constant_index(row) if isinstance(row, int) else row for row in rows]
        operands = [value for number, value in enumerate(call.operands) if number not in gone[False]]
        new = ir.Operation.create("func.call", [each.type for each in kept], [*operands, *handed], attributes)
    for old, result in zip(kept, new.results, strict=True):
        old.replace_all_uses_with(result)
    call.erase()


def _row(move: ir.Operation) -> ir.Value | int:
    row = moved_and_rows(move)[1]
    number = integer_of(row)
    return row if number is None else number


def _is_used_elsewhere(place: MovedPlace, calls: list[ir.Operation]) -> bool:
    return any(len(list(call.results[place.number].uses)) > 1 for call in calls)


def _first_user(block: ir.Block, value: ir.Value) -> ir.Operation | None:
    """The first op of ``block`` that uses ``value``, or in which it is used."""
    users = {around_in(use.owner.operation, block) for use in value.uses}
    return next((each.operation for each in block.operations if each.operation in users), None)
