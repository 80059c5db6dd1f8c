"""``compile``: targets, levels of the IR, and pipelines and planners of the user's own."""

import traceback
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ipu_mlir as ipu
from ipu_mlir.compilation.lowering import plan_lowering
from ipu_mlir.compilation.sources import load_module
from ipu_mlir.dialects.machine.machine import machine_of
from ipu_mlir.dialects.mapping.parts import PartLoop, Parts
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.passes.core.base import Pass
from ipu_mlir.passes.placement.partition.partition import Partition
from ipu_mlir.runtime.engine.native import why_not

TEXT = """
func.func @main(%x: tensor<6x4xf32>, %w: tensor<4x5xf32>) -> tensor<6x5xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<6x5xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<6x5xf32>) -> tensor<6x5xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<6x4xf32>, tensor<4x5xf32>) outs(%f : tensor<6x5xf32>) -> tensor<6x5xf32>
  return %0 : tensor<6x5xf32>
}
func.func @other(%x: tensor<3xi32>) -> (tensor<3xi32>, tensor<3xi32>) {
  return %x, %x : tensor<3xi32>, tensor<3xi32>
}
"""
X = np.arange(24, dtype=np.float32).reshape(6, 4)
W = np.arange(20, dtype=np.float32).reshape(4, 5)
SMALL = ipu.Target(tiles_per_ipu=3)


def check(exe):
    np.testing.assert_allclose(exe.run([X, W])[0], X @ W)


def test_a_program_compiles_for_a_target():
    exe = ipu.compile(TEXT, target=SMALL)
    check(exe)
    assert "tiles_per_ipu = 3" in exe.mlir()


def test_a_target_in_the_module_counts_unless_another_is_given():
    text = f"module attributes {{ipu.target = #ipu.target<{{tiles_per_ipu = 2}}>}} {{{TEXT}}}"
    assert "tiles_per_ipu = 2" in ipu.compile(text).mlir()
    assert "tiles_per_ipu = 3" in ipu.compile(text, target=SMALL).mlir()
    assert 'name = "ipu2"' in ipu.compile(TEXT).mlir()


def test_another_entry():
    exe = ipu.compile(TEXT, entry="other", target=SMALL)
    first, second = exe(np.arange(3, dtype=np.int32))
    np.testing.assert_array_equal(first, [0, 1, 2])
    assert not np.shares_memory(first, second)


def test_an_entry_that_is_not_there():
    with pytest.raises(ipu.CompileError, match=r"no function @forward; it has @main, @other: .* entry='main'"):
        ipu.compile(TEXT, entry="forward")
    with pytest.raises(ipu.CompileError, match="the program has no function at all"):
        ipu.compile("module {}")


def test_levels_of_the_ir():
    exe = ipu.compile(TEXT, target=SMALL)
    assert "linalg.matmul" in exe.mlir("l0") and "ipu.target" not in exe.mlir("l0")
    assert "ipu.target" in exe.mlir("l1") and "#ipu.mapping" not in exe.mlir("l1")
    assert "tensor<6x4xf32, #m" in exe.mlir("l2") and "ipu.compute_set" not in exe.mlir("l2")
    assert exe.mlir("l3") == exe.mlir() and "ipu.compute_set" in exe.mlir()
    assert "linalg.matmul ins(%arg0, %arg1" in exe.mlir("host") and "ipu." not in exe.mlir("host")
    for level in ("l0", "l1", "l2", "l3", "host"):
        assert exe.mlir(level) == exe.mlir(level), "asking changes nothing"
        own = {"l2": "ipu-lower", "l3": [], "host": []}
        check(ipu.compile(exe.mlir(level), pipeline=own.get(level)))
    with pytest.raises(ipu.CompileError, match="there is no level 'l9'; the levels are l0, l1, l2, l3, host, kernels"):
        exe.mlir("l9")


@pytest.mark.parametrize("kernels", ["never", "always"][: 1 if why_not() else 2])
def test_the_last_level_has_the_kernels_that_run(kernels: str):
    exe = ipu.compile(TEXT, target=SMALL, kernels=kernels)
    last = exe.module("kernels")
    held = [op.operation.get_asm() for op in last.body.operations if op.operation.name == "builtin.module"]
    text = exe.engine.translation.kernels
    own = [ir.Module.parse(text, last.context).operation.get_asm()] if text else []
    assert [each.split() for each in held] == [each.replace("module {", "module @kernels {", 1).split() for each in own]
    assert bool(held) == (kernels == "always")


class CountAdds(Pass):
    """Remember what the module looked like."""

    name = "test-remember"

    def __init__(self) -> None:
        self.seen: list[str] = []

    def run(self, module: ir.Operation) -> None:
        self.seen.append(str(module))


def test_a_pipeline_of_text_and_passes_replaces_the_default():
    remember = CountAdds()
    exe = ipu.compile(TEXT, target=SMALL, pipeline=["ipu-normalize,ipu-place", remember, "ipu-lower"])
    check(exe)
    assert len(remember.seen) == 1 and "ipu.parts" in remember.seen[0]
    assert "test-remember" in [time.name for time in exe.pass_timings]
    with pytest.raises(
        ipu.CompileError, match="no level 'l1'; its levels are l0, l3, host; a pipeline of your own has no"
    ):
        exe.mlir("l1")


def test_a_pipeline_as_text():
    check(ipu.compile(TEXT, target=SMALL, pipeline="builtin.module(ipu-compile)"))


def on_one_tile(operation, target):
    """A planner: every op whole, on the last tile."""
    return Parts(tuple(PartLoop(extent, extent, 0) for extent in operation.extents), target.num_tiles - 1)


def test_a_planner_replaces_the_partition_decision():
    exe = ipu.compile(TEXT, target=SMALL, planner=on_one_tile)
    check(exe)
    (result,) = [each for each in exe.placements() if each.kind == "result"]
    assert (result.num_tiles, result.first_tile) == (1, 2)
    text = exe.mlir("l2")
    assert "#ipu.parts<[[6, 6, 0], [5, 5, 0], [4, 4, 0]], 2>" in text


def test_a_planner_and_a_pipeline_exclude_each_other():
    with pytest.raises(ipu.CompileError, match="give either pipeline= or planner"):
        ipu.compile(TEXT, pipeline="ipu-compile", planner=on_one_tile)
    check(ipu.compile(TEXT, pipeline=["ipu-normalize", *place_with(Partition(planner=on_one_tile)), "ipu-lower"]))


def place_with(partition):
    """The default passes that place, with another partition."""
    from ipu_mlir.passes.pipelines import PLACE

    return [partition if element == partition.name else element for element in PLACE]


def test_a_function_without_parameters_needs_no_arguments():
    assert ipu.compile(lambda: np.arange(3, dtype=np.int32), target=SMALL)().tolist() == [0, 1, 2]


def test_example_arguments_are_for_functions_only():
    with pytest.raises(ipu.CompileError, match="args= is for a Python function"):
        ipu.compile(TEXT, args=[X, W])
    with pytest.raises(ipu.CompileError, match="is traced for given shapes; pass args="):
        ipu.compile(ipu.function(lambda x: x))
    with pytest.raises(ipu.CompileError, match=r"is traced for given shapes; pass args=\[TensorSpec"):
        ipu.compile(lambda x: x, args=ipu.TensorSpec((2,)))


def test_a_python_function_is_traced():
    for given in (lambda x: x + 1, ipu.function(lambda x: x + 1)):
        np.testing.assert_array_equal(ipu.compile(given, args=[X], target=SMALL)(X), X + 1)
    with pytest.raises(ipu.CompileError, match="is traced for given shapes; pass args="):
        ipu.compile(np.exp)


@pytest.mark.parametrize("target", [16, "ipu2", ipu.Target])
def test_a_target_that_is_none(target):
    with pytest.raises(ipu.TargetError, match=r"is no machine; give an ipu\.Target"):
        ipu.compile(TEXT, target=target)


def test_less_memory_for_operands_gives_a_program_in_steps():
    text = Path(__file__).parents[3] / "filecheck/passes/placement/partition/partition-memory.mlir"
    lengths = [
        len(ipu.compile(text, available_memory_proportion=proportion).mlir("l2")) for proportion in (None, 0.6, 0.04)
    ]
    assert lengths[0] == lengths[1] < lengths[2]


def test_a_proportion_is_for_the_default_passes():
    with pytest.raises(ipu.CompileError, match="give available-memory-proportion to the ipu-partition of your own"):
        ipu.compile(TEXT, pipeline="ipu-compile", available_memory_proportion=0.5)
    with pytest.raises(ipu.CompileError, match="is given 0 of the memory of a tile"):
        ipu.compile(TEXT, available_memory_proportion=0.0)
    with pytest.raises(ipu.CompileError, match="give max-bytes to an ipu-merge-collectives of your own pipeline="):
        ipu.compile(TEXT, pipeline="ipu-compile", merge_collectives=64)


def test_partial_results_of_16_bits_are_what_the_program_says_or_f32() -> None:
    args = [ipu.TensorSpec((32, 64), np.float16), ipu.TensorSpec((64, 32), np.float16)]
    programs = {
        each: ipu.compile(lambda x, w: x @ w, args=args, target=ipu.Target(tiles_per_ipu=16), partials_type=each)
        for each in (None, "f32", "native")
    }
    types = {each: "tensor<32x32xf32" in program.mlir("l1") for each, program in programs.items()}
    assert types == {None: True, "f32": True, "native": False}
    cycles = {each: program.profile().execution.cycles.compute for each, program in programs.items()}
    assert cycles[None] == cycles["f32"] > cycles["native"]
    with pytest.raises(ipu.CompileError, match="partials of an ipu-widen-sums of your own pipeline="):
        ipu.compile(TEXT, pipeline="ipu-compile", partials_type="native")
    with pytest.raises(ipu.CompileError, match="half"):
        ipu.compile(TEXT, partials_type="half")


def test_recomputation_is_for_the_default_passes() -> None:
    with pytest.raises(ipu.CompileError, match="give recompute as cycles of an ipu-recompute of your own pipeline="):
        ipu.compile(TEXT, pipeline="ipu-compile", recompute=0.1)
    with pytest.raises(ipu.CompileError, match="it is a share of cycles, a number from 0 on"):
        ipu.compile(TEXT, recompute=-1)


def test_layers_that_are_alike_are_one_function_unless_the_user_says_otherwise() -> None:
    layer = """
      %z{n} = linalg.fill ins(%zero : f32) outs(%e : tensor<2x2xf32>) -> tensor<2x2xf32>
      %m{n} = linalg.matmul ins(%x{k}, %w : tensor<2x2xf32>, tensor<2x2xf32>)
        outs(%z{n} : tensor<2x2xf32>) -> tensor<2x2xf32>
      %x{n} = math.tanh %m{n} : tensor<2x2xf32>"""
    layers = "".join(layer.replace("{n}", str(n)).replace("{k}", str(n - 1)) for n in range(1, 100))
    text = f"""
    func.func @main(%x0: tensor<2x2xf32>, %w: tensor<2x2xf32>) -> tensor<2x2xf32> {{
      %e = tensor.empty() : tensor<2x2xf32>
      %zero = arith.constant 0.0 : f32{layers}
      return %x99 : tensor<2x2xf32>
    }}"""
    texts = []
    for outlined in (True, False):
        module = load_module(text)
        plan_lowering(outline_layers=outlined).run(module.operation, "l1")
        texts.append(str(module))
    products = [each.count("linalg.matmul") + each.count("arith.mulf") for each in texts]
    assert products[0] < products[1] == 99
    with pytest.raises(ipu.CompileError, match="leave ipu-outline-layers out of your own pipeline="):
        ipu.compile(TEXT, pipeline="ipu-compile", outline_layers=False)


@pytest.mark.parametrize(("most", "syncs_less"), [(0, 0), (16, 0), (32, 1), (48, 2)])
def test_collectives_that_give_few_bytes_together_have_one_sync(most: int, syncs_less: int) -> None:
    def three():
        x = ipu.replica_index().astype(np.float32) * np.arange(4, dtype=np.float32)
        return [ipu.all_reduce(x + np.float32(offset)) for offset in range(3)]

    target = ipu.Target(tiles_per_ipu=4, replicas=2)
    alone, merged = (ipu.compile(three, args=(), target=target, merge_collectives=each) for each in (None, most))
    saved = alone.profile().execution.cycles.sync - merged.profile().execution.cycles.sync
    machine = machine_of(target)  # what was between two collectives is one compute set
    assert saved == syncs_less * (machine.external_sync_cycles + machine.sync_cycles)
    assert all(np.array_equal(*each) for each in zip(alone(), merged(), strict=True))
    assert all(np.array_equal(*each) for each in zip(alone(), merged.run_per_tile([]), strict=True))


UNSUPPORTED = """func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = tosa.tanh %x : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}"""
QUOTE = "  %y = tosa.tanh %x : (tensor<4xf32>) -> tensor<4xf32>\n       ^"


def frames(error: BaseException) -> list[str]:
    return [Path(frame.filename).name for frame in traceback.extract_tb(error.__traceback__)]


@pytest.mark.parametrize("kind", ["text", "file"])
def test_a_compile_error_has_one_frame_of_ours_and_the_line_of_the_program(kind: str, tmp_path: Path) -> None:
    file = tmp_path / "program.mlir"
    file.write_text(UNSUPPORTED)
    with pytest.raises(ipu.CompileError) as caught:
        ipu.compile(UNSUPPORTED if kind == "text" else file)
    assert frames(caught.value) == [Path(__file__).name, "compiler.py"]
    assert caught.value.__notes__ == [QUOTE] and caught.value.__cause__ is None


def test_a_traced_function_that_cannot_be_compiled_is_told_at_its_line() -> None:
    @ipu.function(target=ipu.Target(tiles_per_ipu=1))
    def much(x: Any) -> Any:
        return x + 1.0

    with pytest.raises(ipu.CompileError) as caught:
        much(np.zeros(1_000_000, np.float32))
    assert frames(caught.value) == [Path(__file__).name, "function.py"]
    assert "much(np.zeros(1_000_000" in caught.value.__notes__[0]


def test_several_errors_have_a_quote_each() -> None:
    with pytest.raises(ipu.CompileError) as caught:
        ipu.compile(
            UNSUPPORTED.replace("return %y", "%z = tosa.abs %y : (tensor<4xf32>) -> tensor<4xf32>\n  return %z")
        )
    assert caught.value.__notes__[0].startswith(f"<text>:2:8:\n{QUOTE}\n<text>:3:8:\n")


def test_what_the_users_own_code_raised_is_kept_as_the_cause() -> None:
    class Refused(Pass):
        name = "test-refused"

        def run(self, module: Any) -> None:
            raise ipu.CompileError("not like this") from KeyError("a reason")

    def raises() -> None:
        raise KeyError("a reason")

    class Caused(Pass):
        name = "test-caused"

        def run(self, module: Any) -> None:
            try:
                raises()
            except KeyError as error:
                raise ipu.CompileError("not like this") from error

    for each, cause in ((Refused(), type(None)), (Caused(), KeyError)):
        with pytest.raises(ipu.CompileError, match="not like this") as caught:
            ipu.compile("func.func @main() { return }", pipeline=[each])
        assert isinstance(caught.value.__cause__, cause)
        assert frames(caught.value) == [Path(__file__).name, "compiler.py", Path(__file__).name]


def test_an_environment_variable_shows_all_frames_of_a_compile_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IPU_MLIR_FULL_TRACEBACK", "1")
    with pytest.raises(ipu.CompileError) as caught:
        ipu.compile(UNSUPPORTED)
    assert "lowering.py" in frames(caught.value)


def test_what_runs_as_machine_code_is_said() -> None:
    kind = "tensor<4xf32>"
    text = f"func.func @main(%a: {kind}) -> {kind} {{ %b = arith.negf %a : {kind} return %b : {kind} }}"
    given = np.arange(4, dtype=np.float32)
    sources = {}
    for kernels in ("never", "auto", "always"):
        executable = ipu.compile(text, target=ipu.Target(tiles_per_ipu=4), kernels=kernels)
        assert isinstance(executable, ipu.Executable)
        np.testing.assert_array_equal(executable.run([given])[0], -given)
        sources[kernels] = executable.source()
    assert sources["never"] == sources["auto"]  # nothing repeats it
    assert "memory.kernel" in sources["always"]
    with pytest.raises(ipu.CompileError, match="kernels='some' is none of 'auto', 'never', 'always', 'checked'"):
        ipu.compile(text, kernels="some")
