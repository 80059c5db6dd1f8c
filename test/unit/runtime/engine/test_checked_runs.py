"""Checked runs: each wrong kernel, block or plan of memory is an error that says what it touched."""

from collections.abc import Callable
from dataclasses import replace
from threading import Barrier
from typing import Any

import numpy as np
import pytest
from support.statement_text import program_of

import ipu_mlir as ipu
from ipu_mlir.runtime.engine.checked_kernels import CheckedKernel, CheckError
from ipu_mlir.runtime.engine.checked_memory import CheckedMemory
from ipu_mlir.runtime.engine.engine import Engine
from ipu_mlir.runtime.engine.native import machine_code
from ipu_mlir.runtime.translator.kernels.kernel_function import DATA_OFFSET
from ipu_mlir.runtime.translator.kernels.module import KernelText, module_text
from ipu_mlir.runtime.translator.kernels.points import Points
from ipu_mlir.runtime.translator.kernels.scalar.code import Code
from ipu_mlir.runtime.translator.statements.options import TranslatorOptions
from ipu_mlir.runtime.translator.translate import translate_statements
from ipu_mlir.runtime.translator.translation import Translation

CHANNELS, ROWS, COLUMNS = 19, 23, 5
PLANE, WIDE = ROWS * COLUMNS, COLUMNS * CHANNELS
TURNED = f"""program @main(%x, %w) -> (%z[{WIDE}*d0 + {CHANNELS}*d1 + d2] : {ROWS}x{COLUMNS}x{CHANNELS}) {{
  argument %x : float32[{CHANNELS}x{ROWS}x{COLUMNS}]
  argument %w : float32[{ROWS}x{COLUMNS}]
  temporary %t : float32[{ROWS}x{COLUMNS}]
  temporary %y : float32[{CHANNELS}x{ROWS}x{COLUMNS}]
  temporary %z : float32[{ROWS}x{COLUMNS}x{CHANNELS}]
  elementwise {ROWS}x{COLUMNS} {{
    store exp(%w[{COLUMNS}*d0 + d1]), %t[{COLUMNS}*d0 + d1]
  }}
  elementwise {CHANNELS}x{ROWS}x{COLUMNS} {{
    store multiply(%x[{PLANE}*d0 + {COLUMNS}*d1 + d2], %t[{COLUMNS}*d1 + d2]), %y[{PLANE}*d0 + {COLUMNS}*d1 + d2]
  }}
  elementwise {ROWS}x{COLUMNS}x{CHANNELS} {{
    store negative(%y[{COLUMNS}*d0 + d1 + {PLANE}*d2]), %z[{WIDE}*d0 + {CHANNELS}*d1 + d2]
  }}
}}"""
"""The rows of ``%y`` are those of a block, and are read across."""


def translated(threads: int = 4, text: str = TURNED, **options: Any) -> Translation:
    return translate_statements(program_of(text), replace(TranslatorOptions.with_checks(threads), **options))


def run(translation: Translation, threads: int = 4) -> np.ndarray:
    rng = np.random.default_rng(0)
    x, w = (rng.normal(0, 1, shape).astype(np.float32) for shape in ((CHANNELS, ROWS, COLUMNS), (ROWS, COLUMNS)))
    for each in (x, w):
        each.flags.writeable = False
    (got,) = Engine.of(translation, threads).run([x, w])
    np.testing.assert_allclose(got, -(x * np.exp(w)).transpose(1, 2, 0), rtol=2e-6)
    return got


@pytest.mark.parametrize("kernels", ["always", "never"])
def test_a_right_program_has_the_same_bits_with_any_number_of_threads(kernels: str) -> None:
    found = [run(translated(threads, kernels=kernels), threads) for threads in (1, 2, 3, 4)]
    assert all(np.array_equal(found[0], other) for other in found[1:])


def test_lanes_are_no_farther_apart_than_rows_of_a_block(monkeypatch: pytest.MonkeyPatch) -> None:
    load = Points.load

    def as_in_all(self: Points, *given: Any) -> Any:
        with pytest.MonkeyPatch.context() as inside:
            place = Points.place
            inside.setattr(Points, "place", lambda *each: _with(Points, "step", step, place, *each))
            inside.setattr(Points, "step", Points.stride)
            return load(self, *given)

    step = Points.step
    monkeypatch.setattr(Points, "load", as_in_all)
    called = r"kernel block0 of .* \(block0.run\(lo, hi, w, t_\d+, x, y_\d+, result0\)\) with lo = \d+, hi = \d+"
    with pytest.raises(
        CheckError, match=called + r" computes element \d+ of result0, float32\[23, 5, 19\], from memory"
    ):
        run(translated())


def _with(owner: type, name: str, value: Any, function: Callable[..., Any], *given: Any) -> Any:
    with pytest.MonkeyPatch.context() as inside:
        inside.setattr(owner, name, value)
        return function(*given)


def test_what_is_declared_is_all_that_a_kernel_writes(monkeypatch: pytest.MonkeyPatch) -> None:
    made = translated()
    assert made.declared is not None
    uses = made.declared["block0"]
    assert uses is not None
    *others, result = uses
    (touch,) = result.touches
    narrower = replace(touch.box, shape=(*touch.box.shape[:-1], CHANNELS - 1))
    less = replace(made, declared={"block0": (*others, replace(result, touches=(replace(touch, box=narrower),)))})
    with pytest.raises(CheckError, match=r"writes to element \d+ of result0, .* its statements do not write"):
        run(less)


@pytest.mark.parametrize("wrong", ["hi + 1", "hi - 1"])
def test_calls_of_numpy_in_blocks_meet_and_leave_out_nothing(wrong: str) -> None:
    made = translated(kernels="never")
    source = made.source.replace("[lo:hi]", f"[lo:{wrong}]").replace("[:, lo:hi]", f"[:, lo:{wrong}]")
    source = source.replace(":hi - lo]", f":{wrong} - lo]")
    assert source != made.source
    with pytest.raises((CheckError, ValueError), match=r"in the block from|that nothing has written|broadcast"):
        run(replace(made, source=source))


def test_threads_share_no_scratch_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    def shared(self: CheckedMemory, block: Any, scratch_bytes: int) -> list[Any]:
        return [block(self) for _ in range(self._threads)]

    monkeypatch.setattr(CheckedMemory, "per_thread", shared)
    made = translated(kernels="never")
    with pytest.raises(
        CheckError, match=r"the loop over blocks of .* \(memory.run_blocks\(.*\) writes element \[\d+\] of "
    ):
        run(replace(made, temporary_bytes=1 << 20))


def test_threads_give_what_one_block_after_the_other_gives() -> None:
    memory, out, begun = CheckedMemory(translated(), 2, {}), np.zeros(8), Barrier(2)

    def block(scratch: np.ndarray) -> Callable[..., None]:
        def run(lo: int, hi: int, out: np.ndarray) -> None:
            scratch[0] = lo
            if memory._is_shared:
                begun.wait(10)
            out[lo:hi] = scratch[0]

        return run

    own, shared = [block(np.zeros(1)) for _ in range(2)], [block(np.zeros(1))] * 2
    memory.run_blocks(own, 8, 4, out)
    assert out.tolist() == [0] * 4 + [4] * 4
    with pytest.raises(CheckError, match=r"gives another element \[\d\] of array 0 on 2 threads than one block after"):
        memory.run_blocks(shared, 8, 4, out)


def test_the_plan_of_memory_keeps_what_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    text = """program @main(%x) -> (%z[d0] : 64) {
  argument %x : float32[64]
  temporary %y : float32[64]
  temporary %z : float32[64]
  elementwise 64 {
    store exp(%x[d0]), %y[d0]
  }
  reduce add 64x64 over d1 %y[d1], %z[d0]
}"""
    made = translated(1, text, kernels="never")
    source = made.source
    first = next(line for line in source.splitlines() if " exp(" in line)
    with pytest.raises(CheckError, match=r"element \[0\] of result 0 depends on memory that nothing has written"):
        Engine.of(replace(made, source=source.replace(first, "        pass")), 1).run([np.ones(64, np.float32)])


@pytest.mark.parametrize("place", [0, 7, -1, 8, 100])
def test_guards_see_what_a_kernel_writes_beside_its_array(place: int) -> None:
    code = Code()
    data = code.value(f"llvm.getelementptr %array[{DATA_OFFSET}] : (!llvm.ptr) -> !llvm.ptr, i8")
    pointer = code.value(f"llvm.load {data} : !llvm.ptr -> !llvm.ptr")
    at = code.value(f"llvm.getelementptr {pointer}[{place}] : (!llvm.ptr) -> !llvm.ptr, i64")
    code.line(f"llvm.store {code.index(5)}, {at} : i64, !llvm.ptr")
    kernel = machine_code(module_text([KernelText("odd", 0, 1, code.text("odd", "%array: !llvm.ptr"))]))["odd"]
    array = np.zeros(8, np.int64)
    if 0 <= place < 8:
        CheckedKernel("odd", kernel).run(array)
        assert array[place] == array.sum() == 5
    else:
        with pytest.raises(CheckError, match=rf"odd of the program writes to element {place} of array 0, int64\[8\], "):
            CheckedKernel("odd", kernel).run(array)
        assert not array.any()


def test_users_ask_for_it_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    text = """func.func @main(%x: tensor<40x8xf32>) -> tensor<40x8xf32> {
  %y = math.exp %x : tensor<40x8xf32>
  return %y : tensor<40x8xf32>
}"""
    x = np.ones((40, 8), np.float32)
    for options in ({"kernels": "checked"}, {}):
        monkeypatch.setenv("IPU_KERNELS", "never" if options else "checked")
        executable = ipu.compile(text, target=ipu.Target(tiles_per_ipu=2), **options)
        assert executable.engine.translation.declared is not None and "memory.run_blocks(" in executable.source()
        np.testing.assert_allclose(executable.run([x])[0], np.exp(x), rtol=1e-6)
    assert ipu.compile(text, target=ipu.Target(tiles_per_ipu=2), kernels="auto").engine.translation.declared is None
