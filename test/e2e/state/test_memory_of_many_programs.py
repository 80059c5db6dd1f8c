"""A process that compiles and runs many different programs does not grow with their number."""

import ctypes
import subprocess
import sys

import pytest

PROGRAM = """
import numpy as np
import ipu_mlir as ipu

OPS = [np.tanh, np.exp, lambda x: x * 2, lambda x: x + x.sum(), lambda x: x @ x.T, lambda x: x - x.max()]
draw = np.random.default_rng(0)


def resident():
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * 4096 / 1e6


for number in range({count}):
    x = np.ones(draw.integers(2, 40, 2), np.float32)
    picks, factor = draw.integers(0, len(OPS), 3), float(draw.random())

    def program(x):
        for pick in picks:
            x = OPS[pick](x)
        return x * factor

    ipu.compile(program, args=[x], target=ipu.Target(tiles_per_ipu=8))(x)
    if number + 1 in {marks}:
        print(resident(), flush=True)
"""


ALLOCATED = """
import ctypes
import gc
import numpy as np
import ipu_mlir as ipu

allocated = ctypes.CDLL(None).mallinfo2
allocated.restype = type("Sizes", (ctypes.Structure,), {"_fields_": [(f"_{n}", ctypes.c_size_t) for n in range(10)]})
x, target = np.ones(8, np.float32), ipu.Target(tiles_per_ipu=4)


def compile_some(first):
    for number in range(first, first + 30):
        ipu.compile(lambda x: np.tanh(x) * np.float32(number), args=[x], target=target)(x)
    gc.collect()
    return allocated()._7 / 30 / 1e3


compile_some(0)
before = compile_some(100)
print(compile_some(200) - before)
"""


def test_what_a_program_allocates_is_freed() -> None:
    """Counted where MLIR and NumPy allocate: a leak of a kB for every program is a leak."""
    if not hasattr(ctypes.CDLL(None), "mallinfo2"):
        pytest.skip("the C library does not say how much is allocated")
    done = subprocess.run([sys.executable, "-c", ALLOCATED], capture_output=True, text=True, check=True)
    assert float(done.stdout) < 2, "kB per program"


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="asks /proc")
def test_memory_after_2000_programs_is_that_after_some_hundreds() -> None:
    """Caches of answers fill up to their bounds; a program that stayed would take 200 kB and more."""
    text = PROGRAM.format(count=2000, marks=(500, 1250, 2000))
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    early, middle, late = map(float, done.stdout.split())
    assert late - middle < 15 and late - early < 30, (early, middle, late)
