"""A pass of a user, for ``--load-pass``."""

from dataclasses import dataclass

from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.passes.core.base import Pass, Refusals
from ipu_mlir.passes.support.rewriting import list_ops


@dataclass(frozen=True)
class CountAdds(Pass):
    """Write the number of additions of each function into an attribute.

    Needs:  nothing.
    Leaves: the attribute on every function.
    """

    name = "test-count-adds"

    attribute: str = "test.adds"
    at_least: int = 0

    def run(self, module: ir.Operation) -> None:
        functions = list_ops(module, "func.func")
        counts = [len(list_ops(function, "arith.addi")) for function in functions]
        with Refusals() as refuse:
            for function, count in zip(functions, counts, strict=True):
                if count < self.at_least:
                    refuse(function, f"has {count} additions, expected {self.at_least} or more")
        for function, count in zip(functions, counts, strict=True):
            function.attributes[self.attribute] = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), count)
