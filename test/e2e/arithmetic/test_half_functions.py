"""Functions of kernels on every f16: rounded as the exact number would be, but for a few that lie between two."""

import math

import numpy as np
import pytest
from support.tensor_text import one_generic

import ipu_mlir as ipu

FUNCTIONS = {name: getattr(np, name) for name in ("exp", "tanh", "sin", "cos", "exp2", "expm1", "sinh", "cosh")}
FUNCTIONS |= {name: getattr(np, name) for name in ("log", "log2", "log10", "log1p", "sqrt")}
FUNCTIONS["erf"] = np.vectorize(math.erf, otypes=[float])
FAST = ("exp", "tanh", "sin", "erf")


@pytest.mark.parametrize(
    "name", [name if name in FAST else pytest.param(name, marks=pytest.mark.slow) for name in FUNCTIONS]
)
def test_every_f16(name: str) -> None:
    x = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    text = one_generic("i", ["65536xf16[i]"], "65536xf16[i]", f"math.{name} %x0 : f16")
    executable = ipu.compile(text, target=ipu.Target(tiles_per_ipu=4), kernels="always")
    assert ".run(" in executable.source()
    (got,) = executable.run([x])
    with np.errstate(all="ignore"):
        exact = FUNCTIONS[name](x.astype(np.float64))
        want = exact.astype(np.float16)
        off = np.abs(got - exact) / np.spacing(np.abs(want))
    differ = (got != want) & ~(np.isnan(got) & np.isnan(want))
    assert differ.sum() <= 8
    assert np.isfinite(want[differ]).all() and np.isfinite(got[differ]).all()
    assert (off[differ] < 0.501).all()
