"""Small passes and modules that tests of the pass machinery share."""

from collections.abc import Callable
from dataclasses import dataclass

import pytest

from ipu_mlir.dialects import ipu
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.dialects.support.parsing import parse_module
from ipu_mlir.passes.core.base import Pass, Refusals
from ipu_mlir.passes.core.pipeline_steps import Registry
from ipu_mlir.passes.core.registry import by_name
from ipu_mlir.passes.support.rewriting import list_ops


@dataclass(frozen=True)
class Mark(Pass):
    """Write ``value`` onto every addition."""

    name = "test-mark"

    value: int = 1

    def run(self, module: ir.Operation) -> None:
        for op in list_ops(module, "arith.addi"):
            op.attributes["test.mark"] = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), self.value)


class RefuseAdds(Pass):
    """Refuse every addition."""

    name = "test-refuse-adds"

    def run(self, module: ir.Operation) -> None:
        with Refusals() as refuse:
            for op in list_ops(module, "arith.addi"):
                refuse(op, "adds; subtract instead")


class EmitOnly(Pass):
    """Report an error without failing, as a helper that answers False may do."""

    name = "test-emit-only"

    def run(self, module: ir.Operation) -> None:
        list_ops(module, "arith.addi")[0].location.emit_error("emitted only")


class BreakTypes(Pass):
    """Leave functions whose type forgets their results."""

    name = "test-break-types"

    def run(self, module: ir.Operation) -> None:
        for function in list_ops(module, "func.func"):
            kind = function.attributes["function_type"].value
            function.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(kind.inputs, []))


@pytest.fixture
def registry() -> Registry:
    """The passes above, and pipelines of them."""
    pipelines = {
        "test-inner": ("cse", "test-mark{value=7}"),
        "test-outer": ("test-inner", "func.func(canonicalize)"),
        "test-endless": ("cse", "test-endless"),
    }
    return Registry(by_name([Mark, RefuseAdds, EmitOnly, BreakTypes]), pipelines)


@pytest.fixture
def parse() -> Callable[[str], ir.Module]:
    """Text -> module, with the file name ``t.mlir``."""
    return lambda text: parse_module(text, ipu.context(), "t.mlir")


@pytest.fixture
def two_adds(parse: Callable[[str], ir.Module]) -> ir.Module:
    """Two equal additions in each of two functions."""
    body = "{\n  %0 = arith.addi %a, %a : i32\n  %1 = arith.addi %a, %a : i32\n  return %0, %1 : i32, i32\n}\n"
    return parse("".join(f"func.func @{name}(%a: i32) -> (i32, i32) {body}" for name in ("f", "g")))
