"""The operations that the executor cannot run, all at once, before anything runs."""

from collections.abc import Iterator

from ipu_mlir.dialects import linalg
from ipu_mlir.dialects.analysis.locations import place_of
from ipu_mlir.dialects.analysis.outlined_calls import callee_of
from ipu_mlir.dialects.codelets.library import codelet_named
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.dialects.support.errors import CompileError
from ipu_mlir.runtime.per_tile.scalar.element_types import dtype_of, element_type_of
from ipu_mlir.runtime.per_tile.vertices.body import BODY_OPS


def check_supported(module: ir.Operation, in_functions: frozenset[str]) -> None:
    """Refuse a module that holds what the executor cannot run; ``in_functions`` are the operations of functions.

    Raises:
        CompileError: the message lists every such operation with its place.
    """
    problems = list(_Check(module, in_functions).problems())
    if problems:
        raise CompileError("the per-tile executor cannot run this program:\n" + "\n".join(f"  {x}" for x in problems))


class _Check:
    def __init__(self, module: ir.Operation, in_functions: frozenset[str]) -> None:
        self._in_functions = in_functions
        self._functions = [op for op in _operations(module) if op.operation.name == "func.func"]
        self._callable = {
            ir.StringAttr(op.attributes["sym_name"]).value for op in self._functions if len(op.regions[0].blocks) == 1
        }

    def problems(self) -> Iterator[str]:
        for function in self._functions:
            yield from _in_arguments(function)
            for op in _operations(function):
                yield from self._in_function(op)

    def _in_function(self, op: ir.OpView) -> Iterator[str]:
        name = op.operation.name
        if name not in self._in_functions:
            yield f"{place_of(op.location)}: {name}"
        if name == "func.call":
            callee = callee_of(op.operation)
            if callee not in self._callable:
                yield f"{place_of(op.location)}: func.call of @{callee}, which has no body of one block"
        for result in op.results:
            yield from _in_type(op, result.type)
        if name != "ipu.compute_set":
            yield from _in_arguments(op)
            for inner in _operations(op):
                yield from self._in_function(inner)
            return
        for vertices in _operations(op):
            if vertices.operation.name == "ipu.vertices":
                yield from _in_vertices(vertices)
            else:
                yield f"{place_of(vertices.location)}: {vertices.operation.name} in a compute set, beside ipu.vertices"


def _in_vertices(vertices: ir.OpView) -> Iterator[str]:
    inner = list(_operations(vertices))
    if len(inner) != 1:
        yield f"{place_of(vertices.location)}: ipu.vertices with {len(inner)} operations, expected one structured op"
        return
    op = inner[0]
    if not op.operation.name.startswith("linalg.") or linalg.get_indexing_maps(op.operation) is None:
        yield f"{place_of(op.location)}: {op.operation.name} in ipu.vertices, not a linalg op with indexing maps"
        return
    if "library_call" in op.attributes:
        try:
            codelet_named(ir.StringAttr(op.attributes["library_call"]).value)
        except CompileError as error:
            yield f"{place_of(op.location)}: {error}"
        return
    yield from _in_body(op, op.operation.name)


def _in_body(op: ir.OpView, structured: str) -> Iterator[str]:
    for scalar in _operations(op):
        if scalar.operation.name not in BODY_OPS:
            yield f"{place_of(scalar.location)}: {scalar.operation.name} in the body of {structured}"
        for result in scalar.results:
            yield from _in_type(scalar, result.type)
        yield from _in_body(scalar, structured)


def _in_arguments(op: ir.OpView) -> Iterator[str]:
    for region in op.regions:
        for block in region.blocks:
            for argument in block.arguments:
                yield from _in_type(op, argument.type)


def _in_type(op: ir.OpView, value_type: ir.Type) -> Iterator[str]:
    try:
        dtype_of(element_type_of(value_type))
    except CompileError as error:
        yield f"{place_of(op.location)}: {error}"


def _operations(op: ir.OpView | ir.Operation) -> Iterator[ir.OpView]:
    for region in op.operation.regions:
        for block in region.blocks:
            yield from block.operations
