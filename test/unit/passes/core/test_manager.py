"""Running steps: order, checks in between, errors, times."""

import signal
from collections.abc import Callable

import pytest

from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.dialects.support.diagnostics import DiagnosedError
from ipu_mlir.dialects.support.errors import CompileError
from ipu_mlir.passes.core.base import Pass, PassFailed
from ipu_mlir.passes.core.instruments import IrPrinter
from ipu_mlir.passes.core.manager import run_steps, verify_op
from ipu_mlir.passes.core.pipeline_steps import PassStep, Registry, UpstreamStep


def test_upstream_and_own_passes_run_in_order(registry: Registry, two_adds: ir.Module) -> None:
    times = run_steps(two_adds, registry.resolve("test-mark{value=3},func.func(cse,test-mark{value=4}),canonicalize"))
    assert [time.name for time in times if time.name != "verify"] == [
        "test-mark",
        *["cse", "test-mark"] * 2,  # the nest runs as a whole on each function
        "canonicalize",
    ]
    text = str(two_adds)
    assert text.count("arith.addi") == 2 and text.count("test.mark = 4") == 2


def test_nest_runs_only_on_ops_of_its_name(registry: Registry, parse: Callable[[str], ir.Module]) -> None:
    module = parse("module {\n  module @inner {\n    func.func @f() {return}\n  }\n  func.func @g() {return}\n}")
    for anchor, runs in (("func.func", 1), ("builtin.module", 1), ("any", 2), ("memref.global", 0)):
        times = run_steps(module, registry.resolve(["cse", f"func.func(),{anchor}(test-mark)"]))
        assert sum(time.name == "test-mark" for time in times) == runs


def test_every_refusal_is_one_located_line(registry: Registry, two_adds: ir.Module) -> None:
    with pytest.raises(PassFailed) as caught:
        run_steps(two_adds, registry.resolve("test-refuse-adds,test-mark"))
    lines = str(caught.value).splitlines()
    assert lines[0] == "t.mlir:2:8: error: 'arith.addi' op adds; subtract instead"
    assert [line.partition(" ")[0] for line in lines] == ["t.mlir:2:8:", "t.mlir:3:8:", "t.mlir:7:8:", "t.mlir:8:8:"]
    assert "test.mark" not in str(two_adds)  # nothing ran after it


def test_an_emitted_error_fails_the_pass(registry: Registry, two_adds: ir.Module) -> None:
    with pytest.raises(PassFailed, match=r"^t.mlir:2:8: error: emitted only$"):
        run_steps(two_adds, registry.resolve("test-emit-only"))


def test_broken_ir_is_found_after_the_pass(registry: Registry, two_adds: ir.Module) -> None:
    with pytest.raises(DiagnosedError, match=r"^t.mlir:4:3: error: .*returns 0 \(after pass 'test-break-types'\)$"):
        run_steps(two_adds, registry.resolve("func.func(test-break-types)"))


def test_without_checks_broken_ir_passes_until_it_is_verified(registry: Registry, two_adds: ir.Module) -> None:
    times = run_steps(two_adds, registry.resolve("test-break-types"), verify=False)
    assert [time.name for time in times] == ["test-break-types"]
    with pytest.raises(DiagnosedError, match=r"t.mlir:4:3: error: 'func.return' op has 2 operands"):
        verify_op(two_adds)


def test_checks_after_named_passes_and_at_the_end(registry: Registry, two_adds: ir.Module) -> None:
    times = run_steps(two_adds, registry.resolve("cse,test-mark,canonicalize"), verify=("cse",))
    assert [time.name for time in times] == ["cse", "verify", "test-mark", "canonicalize", "verify"]
    with pytest.raises(DiagnosedError, match=r"returns 0$"):
        run_steps(two_adds, registry.resolve("cse,func.func(test-break-types)"), verify=("cse",))


def test_failure_of_an_upstream_pass_is_located(registry: Registry, two_adds: ir.Module) -> None:
    with pytest.raises(DiagnosedError, match=r"^t.mlir:1:1: error: .*does not define a symbol table"):
        run_steps(two_adds, registry.resolve("func.func(symbol-dce)"))


def test_context_is_left_as_it_was(registry: Registry, two_adds: ir.Module) -> None:
    with pytest.raises(CompileError):
        run_steps(two_adds, registry.resolve("test-refuse-adds"))
    assert not two_adds.context.emit_error_diagnostics
    with pytest.raises(ir.MLIRError, match="unknown"):  # errors are in the exception again
        ir.Module.parse("func.func @f() { nothing }", two_adds.context)


def test_a_bug_in_a_pass_shows_its_traceback(two_adds: ir.Module, registry: Registry) -> None:
    class Buggy(Pass):
        name = "test-buggy"

        def run(self, module: ir.Operation) -> None:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError) as caught:
        run_steps(two_adds, registry.resolve(Buggy()))
    assert caught.value.__notes__ == ["while pass 'test-buggy' ran"]


def test_printer_sees_the_ir_before_and_after(registry: Registry, two_adds: ir.Module) -> None:
    written: list[str] = []
    printer = IrPrinter(written.append, before=("test-mark",), after=None)
    run_steps(two_adds, registry.resolve("cse,func.func(test-mark)"), observers=[printer])
    titles = [text.partition("\n")[0].removeprefix("// -----// IR Dump ") for text in written]
    around = ["Before test-mark //----- //", "After test-mark //----- //"]
    assert titles == ["After cse //----- //", *around, *around]
    assert written[0].count("arith.addi") == 2
    assert "test.mark" not in written[1] and "test.mark" in written[2]
    assert "func.func @f" in written[1] and "func.func @g" not in written[1]


def test_ctrl_c_in_a_pass_is_raised_after_it(two_adds: ir.Module) -> None:
    """The signal comes in a callback of C++, where an exception would be lost or end the process."""

    class Interrupted(Pass):
        name = "test-interrupted"

        def run(self, module: ir.Operation) -> None:
            def visit(op: ir.Operation) -> ir.WalkResult:
                if op.name == "builtin.module":
                    signal.raise_signal(signal.SIGINT)
                return ir.WalkResult.ADVANCE

            module.walk(visit)
            module.attributes["test.done"] = ir.UnitAttr.get()

    with pytest.raises(KeyboardInterrupt):
        run_steps(two_adds, [PassStep(Interrupted()), UpstreamStep("no-such-pass")])
    assert "test.done" in two_adds.operation.attributes
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    two_adds.operation.verify()
    run_steps(two_adds, [UpstreamStep("cse")])
