"""The share of a tile's memory that one op may take for operands that are brought to it and for partial results."""

import re
from dataclasses import dataclass

from ipu_mlir.dialects.costs.work import Contraction, Work
from ipu_mlir.dialects.machine.target import Target
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.passes.core.base import Refusals
from ipu_mlir.passes.support.placement_hints import PROPORTION

_SCOPES = re.compile(r"(?:^|/)ipu\.available_memory_proportion\.(1|0\.\d*[1-9])(?=_|/|$)")
"""Scopes in the name of an op."""


@dataclass(frozen=True)
class MemoryProportions:
    """Shares of a tile's memory, more than 0 and at most 1, by the kind of op."""

    other: float
    matmul: float
    conv: float

    def bytes_for(self, work: Work, name: str, target: Target) -> int:
        """Bytes that an op that does ``work`` may take on one tile; the innermost scope in its ``name`` may say it.

        >>> proportions, product = MemoryProportions(0.5, 0.5, 0.5), Contraction("f32", (), (0,), (1,), (2,), ())
        >>> proportions.bytes_for(product, "MatMul", Target())
        319488
        >>> proportions.bytes_for(product, "ipu.available_memory_proportion.0.25_1/MatMul", Target())
        159744
        """
        share = self.other
        if isinstance(work, Contraction):
            share = self.conv if work.kernel else self.matmul
        said = _SCOPES.findall(name)[-1:]
        return int((float(said[0]) if said else share) * target.bytes_per_tile)


def proportions_of(function: ir.Operation, given: MemoryProportions, refuse: Refusals) -> MemoryProportions:
    """The proportions that ``function`` has itself, or those that are ``given``."""
    found = given
    if PROPORTION in function.attributes:
        own = getattr(function.attributes[PROPORTION].maybe_downcast(), "value", None)
        if not isinstance(own, float):
            refuse(function, f"has {PROPORTION} = {function.attributes[PROPORTION]}; write it as 0.6 : f64")
            return given
        found = MemoryProportions(own, own, own)
    for value in dict.fromkeys((found.other, found.matmul, found.conv)):
        if not 0 < value <= 1:
            refuse(function, f"is given {value:g} of the memory of a tile; a proportion is more than 0 and at most 1")
    return found
