"""Hints of a program's writer about placement: reasons to refuse them, and the ops that carry them."""

from collections.abc import Iterator

from ipu_mlir.dialects.analysis.collectives import COLLECTIVES
from ipu_mlir.dialects.analysis.host_calls import FROM_HOST
from ipu_mlir.dialects.analysis.loop_nest import is_structured
from ipu_mlir.dialects.attributes.attributes import mapping_from_attr
from ipu_mlir.dialects.ipu import PlaceOp
from ipu_mlir.dialects.machine.target import Target
from ipu_mlir.dialects.mapping.mapping import Mapping
from ipu_mlir.dialects.support.bindings import ir

MAP = "ipu.map"
"""Attribute with the home mapping of an argument, a constant, an empty tensor, or a copy of what a view shows."""

HOMES = "ipu.homes"
"""Attribute with the home mapping of each result of any other op; unit for a result that is no tensor."""

BLOCK_HOMES = "ipu.block_homes"
"""Attribute of loops with the home mapping of each argument of each of their blocks; unit for one that is no tensor."""

PARTS = "ipu.parts"
"""Attribute with the parts of a structured op."""

PROPORTION = "ipu.available_memory_proportion"
"""Attribute of a function, as of the stage of a pipeline: the proportion for all of its ops."""

MADE_WITHOUT_LOOPS = COLLECTIVES | FROM_HOST | {"ipu.replica_index"}
"""Ops of programs whose result lies where ``MAP`` on them says."""


def broken_home_rule(mapping: Mapping, elements: int, target: Target) -> str | None:
    """Why ``mapping`` cannot be the home of a tensor of ``elements`` on ``target``, as the end of a sentence.

    >>> broken_home_rule(Mapping(4), 6, Target())
    'is mapped as an allocation of 4 elements, but has 6'
    """
    if mapping.elements != elements:
        return f"is mapped as an allocation of {mapping.elements} elements, but has {elements}"
    if not mapping.in_bounds():
        return f"is mapped beyond its {elements} elements"
    if not mapping.tiles_are_distinct():
        return "has a mapping that puts two parts on one tile"
    if not mapping.is_disjoint():
        return "has a home mapping that puts an element on several tiles; a home holds each element once"
    if not mapping.covers():
        return "has a mapping that leaves elements on no tile; a home holds every element"
    if mapping.max_tile >= target.num_tiles or mapping.min_tile < 0:
        return (
            f"is mapped to tiles {mapping.min_tile} to {mapping.max_tile}, but the target has tiles 0 to "
            f"{target.num_tiles - 1}"
        )
    return None


def argument_hints(function: ir.Operation) -> list[Mapping | None]:
    """Where the arguments of ``function`` are to lie, as far as that is said."""
    arguments = len(function.regions[0].blocks[0].arguments)
    if "arg_attrs" not in function.attributes:
        return [None] * arguments
    return [mapping_from_attr(entries[MAP]) if MAP in entries else None for entries in function.attributes["arg_attrs"]]


def wishes(value: ir.Value) -> Iterator[Mapping]:
    """Where users want ``value``, or a reshape of it, to lie: a mapping speaks of elements, not of the shape."""
    for use in value.uses:
        if use.owner.name == "ipu.place":
            yield mapping_from_attr(use.owner.attributes["mapping"])
        elif use.owner.name in ("tensor.collapse_shape", "tensor.expand_shape"):
            yield from wishes(use.owner.operation.results[0])


def place_value(value: ir.OpResult, mapping: ir.Attribute) -> None:
    """Let all users of ``value`` take it from where ``mapping`` says."""
    op = value.owner.operation
    with ir.InsertionPoint.after(op), op.location:
        place = PlaceOp(source=value, mapping=mapping, placed=value.type)
    value.replace_all_uses_except(place.placed, place.operation)


def place_memory(op: ir.Operation, mapping: ir.Attribute) -> None:
    """Let the constant or the empty tensor that ``op`` makes lie where ``mapping`` says.

    The memory that an op fills is its result, so it is the results of ops that start from an empty tensor that are
    placed.
    """
    elsewhere = op.name != "tensor.empty"
    for use in list(op.results[0].uses):
        user = use.owner.operation
        result = use.operand_number - (len(user.operands) - len(user.results))
        if op.name == "tensor.empty" and is_structured(user) and result >= 0:
            place_value(user.results[result], mapping)
        else:
            elsewhere = True
    if elsewhere:
        place_value(op.results[0], mapping)
