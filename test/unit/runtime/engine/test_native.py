"""Machine code: when there is none, how long it lives, and that it can be interrupted."""

import copy
import gc
import os
import pickle
import signal
import threading
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from support.statement_text import program_of

from ipu_mlir.dialects import ipu as dialect
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.dialects.support.errors import RunError
from ipu_mlir.runtime.engine import engine as engine_module
from ipu_mlir.runtime.engine import native
from ipu_mlir.runtime.engine.engine import Engine
from ipu_mlir.runtime.translator.statements.options import TranslatorOptions
from ipu_mlir.runtime.translator.translate import translate_statements
from ipu_mlir.runtime.translator.translation import Translation

COUNTING = """
program @main(%start, %end) -> (%n[0] : scalar) {
  argument %start : int64[scalar]
  argument %end : int64[scalar]
  temporary %n : int64[scalar] mutable
  temporary %more : bool[scalar] in #0
  elementwise scalar {
    store %start[0], %n[0]
  }
  while %more[0] #0 {
    elementwise scalar {
      store not_equal(%n[0], %end[0]) : bool, %more[0]
    }
  } do #1 {
    elementwise scalar {
      store add(%n[0], int64(1)), %n[0]
    }
  } leaving #2 {
  }
}
"""


def counting() -> Translation:
    translation = translate_statements(program_of(COUNTING), TranslatorOptions(kernels="auto"))
    assert "loop0.run(" in translation.source
    return translation


def run(engine: Engine, end: int) -> int:
    return int(engine.run([np.array(0), np.array(end)])[0])


def test_a_long_loop_can_be_interrupted() -> None:
    engine = Engine.of(counting())
    assert run(engine, 100_000) == 100_000
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # who began this process may ignore interrupts
    timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            run(engine, 30_000_000_000)
    finally:
        timer.join()
        signal.signal(signal.SIGINT, before)
    assert run(engine, 7) == 7


def test_other_threads_run_while_a_loop_does() -> None:
    engine, rounds, stopped = Engine.of(counting()), [], threading.Event()

    def other() -> None:
        while not stopped.wait(0.001):
            rounds.append(1)

    thread = threading.Thread(target=other)
    thread.start()
    before = len(rounds)
    run(engine, 600_000_000)
    seen = len(rounds) - before
    stopped.set()
    thread.join()
    assert seen > 1  # one might be between the loop and what is beside it


def test_threads_share_the_machine_code() -> None:
    translation = counting()
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda end: run(Engine.of(translation), end), range(1000, 1016))) == [*range(1000, 1016)]


def test_code_lives_as_long_as_who_runs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native, "_KEPT", 0)
    native._kept.clear()
    engine = Engine.of(counting())
    assert run(engine, 5) == 5
    assert not native._kept
    gc.collect()
    assert run(engine, 6) == 6
    assert run(copy.copy(engine), 7) == 7


def test_another_process_makes_machine_code_of_its_own() -> None:
    read, write = os.pipe()
    engine = pickle.loads(pickle.dumps(Engine.of(counting())))
    assert run(engine, 3) == 3
    child = os.fork()
    if child == 0:
        os.write(write, str(run(engine, 4)).encode())
        os._exit(0)
    os.waitpid(child, 0)
    assert os.read(read, 10) == b"4"


def test_a_process_without_kernels_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native, "why_not", lambda: "this is a test")
    with pytest.raises(RunError, match="the program has kernels, but this is a test; compile it with kernels='never'"):
        run(Engine.of(counting()), 3)
    native._say_once.cache_clear()
    options = TranslatorOptions(kernels="auto")
    with pytest.warns(UserWarning, match="programs run as NumPy calls, without machine code of their own: this is a t"):
        assert native.possible(options).kernels == "never"
    assert native.possible(options).kernels == "never"  # said once
    native._say_once.cache_clear()


def test_a_processor_without_fma_has_no_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native, "_FEATURES", {"FMA3": False, "F16C": True})
    assert native.why_not.__wrapped__() == "this processor has no instruction for a product and a sum"


def test_what_llvm_does_not_take_is_an_error() -> None:
    with pytest.raises(RunError, match="LLVM does not take the kernels of the program, a bug of ipu-mlir: "):
        native.machine_code("module { llvm.func @run0() { llvm.return } llvm.func @table() { odd } }")


def test_a_child_compiles_though_another_thread_does_so_when_it_begins() -> None:
    text = counting().kernels
    stopped = threading.Event()

    def compile_again_and_again() -> None:
        while not stopped.is_set():
            native._kept.clear()
            native.machine_code(text, 0)

    thread = threading.Thread(target=compile_again_and_again)
    thread.start()
    try:
        for _ in range(3):
            child = os.fork()
            if child == 0:
                signal.alarm(20)
                native._kept.clear()
                os._exit(0 if native.machine_code(text, 0) else 1)
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    finally:
        stopped.set()
        thread.join()


def test_llvm_gets_nothing_that_it_was_not_tested_with() -> None:
    text = counting().kernels
    with pytest.raises(RunError, match=r"the kernels of the program have math\.tan, which LLVM was not tested with"):
        native.machine_code(text.replace("arith.addi", "math.tan", 1))


LOOP = """
func.func @main(%x: memref<4xf32>) -> memref<4xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %most = arith.constant 1000 : index
  %y = memref.alloc() : memref<4xf32>
  linalg.copy ins(%x : memref<4xf32>) outs(%y : memref<4xf32>)
  scf.for %i = %zero to %most step %one {
    linalg.add ins(%y, %x : memref<4xf32>, memref<4xf32>) outs(%y : memref<4xf32>)
  }
  return %y : memref<4xf32>
}
"""


def looping(kernels: str) -> Engine:
    with dialect.context():
        engine = Engine(ir.Module.parse(LOOP), options=TranslatorOptions(kernels=kernels))
    assert ".run(" in engine.source
    return engine


def test_llvm_has_nothing_to_do_before_the_first_run(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = []

    def machine_code(text: str) -> Mapping[str, native.Kernel]:
        texts.append(text)
        return native.machine_code(text)

    monkeypatch.setattr(engine_module, "machine_code", machine_code)
    engine = looping("auto")
    assert texts == []
    for _ in range(2):
        np.testing.assert_array_equal(engine.run([np.ones(4, "f4")])[0], np.full(4, 1001, "f4"))
    assert texts == [engine.translation.kernels]


def refused(text: str) -> Mapping[str, native.Kernel]:
    raise native.KernelError("LLVM does not take it")


def test_what_llvm_does_not_take_runs_as_numpy_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine_module, "machine_code", refused)
    engine = looping("auto")
    with pytest.warns(UserWarning, match="LLVM does not take it; the program runs as NumPy calls"):
        (first,) = engine.run([np.ones(4, "f4")])
    (second,) = engine.run([np.ones(4, "f4")])
    np.testing.assert_array_equal([first, second], np.full((2, 4), 1001, "f4"))
    assert ".run(" not in engine.source


def test_what_llvm_does_not_take_is_an_error_where_it_always_has_to(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine_module, "machine_code", refused)
    engine = looping("always")
    for _ in range(2):
        with pytest.raises(RunError, match="LLVM does not take it"):
            engine.run([np.ones(4, "f4")])
