"""Which operations the executor cannot run, all at once, before anything runs."""

from collections.abc import Iterator

from ipu_mlir.dialects.bindings import ir, upstream
from ipu_mlir.dialects.codelets.library import codelet_named
from ipu_mlir.dialects.errors import CompileError
from ipu_mlir.runtime.per_tile.body import BODY_OPS
from ipu_mlir.runtime.per_tile.element_types import dtype_of
from ipu_mlir.runtime.per_tile.errors import place_of
from ipu_mlir.runtime.per_tile.interpreter import HANDLERS, TERMINATORS
from ipu_mlir.runtime.per_tile.scalar_ops import SCALAR_OPS

_IN_FUNCTION = frozenset(HANDLERS) | TERMINATORS | frozenset(SCALAR_OPS)


def check_supported(module: ir.Operation) -> None:
    """Refuse a module that holds what the executor cannot run.

    Raises:
        CompileError: the message lists every such operation with its place.
    """
    problems = list(_problems(module))
    if problems:
        raise CompileError("the per-tile executor cannot run this program:\n" + "\n".join(f"  {x}" for x in problems))


def _problems(module: ir.Operation) -> Iterator[str]:
    for symbol in _operations(module):
        if symbol.operation.name == "func.func":
            for block in symbol.regions[0].blocks:
                for argument in block.arguments:
                    yield from _in_type(symbol, argument.type)
            for op in _operations(symbol):
                yield from _in_function(op)


def _in_function(op: ir.OpView) -> Iterator[str]:
    name = op.operation.name
    if name not in _IN_FUNCTION:
        yield f"{place_of(op.location)}: {name}"
    for result in op.results:
        yield from _in_type(op, result.type)
    if name == "ipu.compute_set":
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
    if not op.operation.name.startswith("linalg.") or upstream("linalg").get_indexing_maps(op.operation) is None:
        yield f"{place_of(op.location)}: {op.operation.name} in ipu.vertices, not a linalg op with indexing maps"
        return
    if "library_call" in op.attributes:
        try:
            codelet_named(ir.StringAttr(op.attributes["library_call"]).value)
        except CompileError as error:
            yield f"{place_of(op.location)}: {error}"
        return
    for scalar in _operations(op):
        if scalar.operation.name not in BODY_OPS:
            yield f"{place_of(scalar.location)}: {scalar.operation.name} in the body of {op.operation.name}"
        for result in scalar.results:
            yield from _in_type(scalar, result.type)


def _in_type(op: ir.OpView, value_type: ir.Type) -> Iterator[str]:
    try:
        dtype_of(value_type.element_type if isinstance(value_type, ir.ShapedType) else value_type)
    except CompileError as error:
        yield f"{place_of(op.location)}: {error}"


def _operations(op: ir.OpView | ir.Operation) -> Iterator[ir.OpView]:
    for region in op.operation.regions:
        for block in region.blocks:
            yield from block.operations
