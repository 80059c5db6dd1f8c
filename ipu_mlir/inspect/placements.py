"""Where the arguments, variables, constants and results of a program lie."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from ipu_mlir.dialects.analysis.variables import variable_arguments
from ipu_mlir.dialects.attributes.attributes import mapping_from_attr
from ipu_mlir.dialects.mapping.mapping import Mapping
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.dialects.support.errors import CompileError
from ipu_mlir.dialects.support.pictures import grid, table, title
from ipu_mlir.specs.specs import TensorSpec
from ipu_mlir.specs.tensor_types import spec_of_type

Kind = Literal["argument", "variable", "constant", "result"]

_PICTURED = 60
"""Elements along a dimension that a picture shows at most."""
_HEADER = ("kind", "name", "tensor", "tiles", "min B/tile", "max B/tile", "where")


@dataclass(frozen=True)
class Placement:
    """One tensor on the tiles.

    Attributes:
        kind: whether the program takes it, keeps it, holds it, or gives it.
        name: the user's name for it, where there is one.
        mapping: which tile holds which elements.
        num_tiles: tiles that hold any of it.
        min_tile_bytes, max_tile_bytes: of the tiles that hold any of it.
    """

    kind: Kind
    name: str
    spec: TensorSpec
    mapping: Mapping
    num_tiles: int
    min_tile_bytes: int
    max_tile_bytes: int

    @property
    def first_tile(self) -> int:
        """The smallest tile that holds any of it."""
        return self.mapping.min_tile

    @property
    def last_tile(self) -> int:
        """The largest tile that holds any of it."""
        return self.mapping.max_tile

    def _repr_html_(self) -> str:
        """For notebooks: the elements of the tensor, rows by columns, each in the color of its tile."""
        shape = self.spec.shape
        columns = shape[-1] if shape else 1
        rows = math.prod(shape[:-1])
        i, j = (np.linspace(0, size - 1, min(size, _PICTURED), dtype=np.int64) for size in (rows, columns))
        owners = (
            self.mapping.tile_of(i[:, None] * columns + j) if rows and columns else np.zeros((0, 0), dtype=np.int64)
        )
        heading = f"{self.kind} {self.name}: {self.spec} on {self.num_tiles:,} tiles"
        return title(heading) + (grid(owners.tolist()) if owners.size else "")


class Placements(tuple[Placement, ...]):
    """All placements of a program; prints as a table."""

    __slots__ = ()

    def __str__(self) -> str:
        rows = [_HEADER, *map(_row, self)]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        return "\n".join("  ".join(_cell(row, column, widths) for column in range(len(row))).rstrip() for row in rows)

    def _repr_html_(self) -> str:
        """For notebooks: the table, with a picture of each tensor's elements in the colors of their tiles."""
        rows = [(*_row(each), each._repr_html_()) for each in self]
        return table((*_HEADER, "picture"), rows, raw=len(_HEADER))


def placements(
    module: ir.Operation, entry: str, argument_names: Sequence[str], result_names: Sequence[str]
) -> Placements:
    """The placements of the arguments, variables and results of ``entry`` and of the constants of ``module``.

    Args:
        module: supersteps.

    Raises:
        CompileError: a tensor has no mapping, so the module is not at the level of supersteps.
    """
    function = ir.SymbolTable(module)[entry]
    kind = function.attributes["function_type"].value
    variables = variable_arguments(function)
    arguments = [type_ for number, type_ in enumerate(kind.inputs) if number not in variables]
    found = [
        *(_placement("argument", name, type_) for name, type_ in zip(argument_names, arguments, strict=True)),
        *(_placement("variable", name, kind.inputs[number]) for number, name in variables.items()),
        *(_placement("constant", name, type_) for name, type_ in _constants(module)),
        *(_placement("result", name, type_) for name, type_ in zip(result_names, kind.results, strict=True)),
    ]
    return Placements(found)


def _constants(module: ir.Operation) -> Iterator[tuple[str, ir.Type]]:
    for op in module.regions[0].blocks[0].operations:
        if op.operation.name == "memref.global":
            yield op.attributes["sym_name"].value, op.attributes["type"].value


def _placement(kind: Kind, name: str, type_: ir.Type) -> Placement:
    space = getattr(type_, "memory_space", None)
    if space is None:
        raise CompileError(f"{kind} {name} of type {type_} lies on no tile; the pipeline did not place it")
    mapping = mapping_from_attr(space)
    spec = spec_of_type(type_)
    tiles, counts = mapping.elements_per_tile()
    size = spec.dtype.itemsize
    return Placement(kind, name, spec, mapping, len(tiles), int(counts.min()) * size, int(counts.max()) * size)


def _row(placement: Placement) -> tuple[str, ...]:
    where = f"{placement.first_tile} .. {placement.last_tile}"
    return (
        placement.kind,
        placement.name,
        str(placement.spec),
        f"{placement.num_tiles:,}",
        f"{placement.min_tile_bytes:,}",
        f"{placement.max_tile_bytes:,}",
        where if placement.first_tile != placement.last_tile else str(placement.first_tile),
    )


def _cell(row: tuple[str, ...], column: int, widths: Sequence[int]) -> str:
    """A cell in its column's width: numbers to the right, text to the left."""
    return row[column].rjust(widths[column]) if 3 <= column <= 5 else row[column].ljust(widths[column])
