"""MLIR can be imported beside other packages that have an LLVM of their own, in any order."""

import importlib.util
import itertools
import os
import subprocess
import sys
from pathlib import Path

import pytest

OTHERS = ("tensorflow", "torch", "jax")
COMPILE_AND_FAIL = """
import numpy as np
import ipu_mlir as ipu

text = '''func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = arith.addf %x, %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}'''
target = ipu.Target(tiles_per_ipu=4)
assert ipu.compile(text, target=target)(np.ones(4, np.float32)).tolist() == [2, 2, 2, 2]
try:
    ipu.compile("func.func @main() { unknown.op }", target=target)
except ipu.CompileError as error:
    assert "unknown.op" in str(error)
else:
    raise AssertionError
"""
USE = {
    "ipu_mlir": COMPILE_AND_FAIL,
    "tensorflow": "import tensorflow as tf\nassert tf.function(lambda x: x + 1, jit_compile=True)(1.0) == 2\n",
    "torch": "import torch\nassert torch.ones(2).sum() == 2\n",
    "jax": "import jax\nassert jax.jit(lambda x: x + 1)(1.0) == 2\n",
}

OTHER_FIRST = [("tensorflow", "ipu_mlir", "torch", "jax"), ("ipu_mlir", "tensorflow", "jax", "torch")]
ORDERS = [
    order if order in OTHER_FIRST else pytest.param(order, marks=pytest.mark.slow)
    for order in itertools.permutations(USE)
]
"""Two show what there is to see: our LLVM after TensorFlow's, and before it."""


def run(program: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", program]
    return subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=300, env={**os.environ, **environment}
    )


def is_missing(*packages: str) -> list[str]:
    return [each for each in packages if importlib.util.find_spec(each) is None]


@pytest.mark.skipif(bool(is_missing(*OTHERS)), reason="needs tensorflow, torch and jax")
@pytest.mark.parametrize("order", ORDERS, ids=lambda order: "-".join(order))
def test_every_order_of_imports_works(order: tuple[str, ...]):
    """Each package does its work as soon as it is there, and once more when all are."""
    done = run("".join(USE[each] for each in (*order, *order)))
    assert done.returncode == 0, done.stderr[-2000:]


@pytest.mark.skipif(bool(is_missing("tensorflow")), reason="needs tensorflow")
def test_another_malloc_and_tensorflow_first_is_an_error_that_says_what_to_do(tmp_path: Path):
    source, library = tmp_path / "malloc.c", tmp_path / "malloc.so"
    source.write_text(
        "#include <dlfcn.h>\n#include <stddef.h>\nextern void *__libc_malloc(size_t);\n"
        "void *malloc(size_t size) { return __libc_malloc(size); }\n"
    )
    if subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source], check=False).returncode:
        pytest.skip("needs a C compiler")
    first = "import ipu_mlir.dialects.ipu\n"
    done = run(
        f"import tensorflow\ntry:\n    {first}except ImportError as error:\n    print(error)\n", LD_PRELOAD=str(library)
    )
    assert "LD_PRELOAD replaces malloc" in done.stdout, done.stderr[-2000:]
    done = run(first + "import tensorflow\n" + COMPILE_AND_FAIL, LD_PRELOAD=str(library))
    assert done.returncode == 0, done.stderr[-2000:]
