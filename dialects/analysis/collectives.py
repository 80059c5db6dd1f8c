"""Collectives on the values of several replicas, as plain values: on tensors and on tiles."""

from dataclasses import dataclass
from typing import Literal, get_args

from ipu_mlir.dialects.support.bindings import ir

Kind = Literal["all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast", "assume_equal"]

KINDS: tuple[Kind, ...] = get_args(Kind)
COLLECTIVES = frozenset(f"ipu.{kind}" for kind in KINDS)
"""Collectives on tensors; on tiles, ``ipu.collective`` is each of them."""

MERGED = "ipu.merged"
"""Attribute of an ``ipu.collective`` that follows another one at once, and has one sync with it."""

REDUCTIONS = ("add", "mean", "min", "max", "mul", "and", "or", "square_add")
SIZED: frozenset[Kind] = frozenset(("all_gather", "reduce_scatter", "all_to_all"))
"""Those whose result has a shape that depends on the number of replicas."""
_OF_ONE_VALUE: frozenset[Kind] = frozenset(("all_reduce", "all_gather", "broadcast", "assume_equal"))


@dataclass(frozen=True)
class Collective:
    """The values that each replica gives and gets, in consecutive groups of replicas.

    Attributes:
        reduction: of ``all_reduce`` and ``reduce_scatter``, one of ``REDUCTIONS``.
        group: how many replicas take part in one; None for all.
        root: of ``broadcast``, which of the group has the value.
        split, concat: of ``all_to_all``, the dimension that is cut and the one that the blocks are put together in.
    """

    kind: Kind
    reduction: str = "add"
    group: int | None = None
    root: int = 0
    split: int = 0
    concat: int = 0

    def size(self, replicas: int) -> int:
        """The number of replicas that take part in one."""
        return replicas if self.group is None else self.group

    def makes_equal(self, replicas: int) -> bool:
        """True if all replicas have one value afterwards."""
        return self.kind in _OF_ONE_VALUE and self.size(replicas) == replicas

    @property
    def gives_blocks(self) -> bool:
        """True if each replica gets a block of its own, of one value as well."""
        return self.kind in ("reduce_scatter", "all_to_all")

    def broken_sizes(self, size: int, replicas: int) -> str | None:
        """The error of groups of ``size``, as the end of a sentence."""
        if replicas % size:
            return (
                f"has a replica group size (got {size}) that does not evenly divide the total number of replicas "
                f"(got {replicas})"
            )
        if not 0 <= self.root < size:
            return f"has root {self.root}, but the replicas of a group are 0 to {size - 1}"
        return None

    def broken_shape(self, source: ir.ShapedType, dest: ir.ShapedType, size: int) -> str | None:
        """The error in the shape of what groups of ``size`` make of ``source``, as the end of a sentence."""
        wanted = self.shape(tuple(source.shape), size)
        if wanted is None:
            return (
                f"cuts dimension {self.split} of {source} into {size} blocks, one for each replica; it must be a "
                "dimension whose size is a multiple of that"
            )
        if tuple(dest.shape) != wanted:
            of = f"of {size} replicas " if self.kind in SIZED else ""
            return f"gives {dest} for {source}; {of}it gives the shape {'x'.join(map(str, wanted)) or 'of a scalar'}"
        return None

    def shape(self, given: tuple[int, ...], size: int) -> tuple[int, ...] | None:
        """The shape of what a replica gets of operands of shape ``given`` in groups of ``size``; None if it gets none.

        >>> Collective("all_gather").shape((3, 2), 4), Collective("reduce_scatter").shape((10,), 4)
        ((4, 3, 2), (3,))
        >>> Collective("all_to_all", split=0, concat=1).shape((8, 2), 4)
        (2, 8)
        """
        if self.kind == "all_gather":
            return (size, *given)
        if self.kind == "reduce_scatter":
            return (-(-given[0] // size),) if len(given) == 1 else None
        if self.kind == "all_to_all":
            if not (0 <= self.split < len(given) and 0 <= self.concat < len(given)) or given[self.split] % size:
                return None
            cut = [length // size if d == self.split else length for d, length in enumerate(given)]
            return tuple(length * size if d == self.concat else length for d, length in enumerate(cut))
        return given


def collective_of(op: ir.OpView | ir.Operation) -> Collective | None:
    """The collective that ``op`` is, on tensors or on tiles; None if it is none."""
    operation, attributes = op.operation, op.operation.attributes
    name = operation.name.removeprefix("ipu.")
    if operation.name == "ipu.collective":
        name = ir.StringAttr(attributes["kind"]).value
    elif operation.name not in COLLECTIVES:
        return None
    kind: Kind = next(each for each in KINDS if each == name)

    def number(entry: str) -> int:
        return ir.IntegerAttr(attributes[entry]).value if entry in attributes else 0

    return Collective(
        kind,
        ir.StringAttr(attributes["op"]).value if "op" in attributes else "add",
        number("group") if "group" in attributes else None,
        number("root"),
        number("split_dimension"),
        number("concat_dimension"),
    )
