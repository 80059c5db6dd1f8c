"""Run the functions of NumPy on traced tensors.

python scripts/sweeps/numpy_functions.py results.jsonl
"""

import warnings
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from outcomes import TARGET, Case, NotTaken, run_all

import ipu_mlir as ipu

HEAD = f"""Written by `scripts/sweeps/numpy_functions.py` with NumPy {np.__version__}: functions, operators and methods
in traced functions, on small inputs, compared with what NumPy gives. Elements that NumPy makes float64 of float32 are
float32 here ([python-api.md](python-api.md))."""
TABLE = Path(__file__).with_name("numpy_functions.txt")


def _inputs() -> dict[str, np.ndarray]:
    """What the names in the table stand for."""
    rng = np.random.default_rng(1)

    def between(low: float, high: float, *shape: int) -> np.ndarray:
        return rng.uniform(low, high, shape).astype(np.float32)

    x, below = between(-2.5, 2.5, 3, 4), between(0.1, 0.9, 3, 3)
    return {
        "x": x,
        "y": between(-2.5, 2.5, 3, 4),
        "v": between(-2.5, 2.5, 5),
        "w": between(-2.5, 2.5, 5),
        "t": between(-2.5, 2.5, 2, 3, 4),
        "p": between(0.6, 3.4, 3, 4),
        "u": between(0.05, 0.95, 3, 4),
        "s5": np.sort(between(-2.5, 2.5, 5)),
        "n": np.where(x > 1, np.nan, x).astype(np.float32),
        "m": below @ below.T + np.eye(3, dtype=np.float32),
        "i": rng.integers(0, 3, (3, 4)).astype(np.int32),
        "j": rng.integers(1, 7, (3, 4)).astype(np.int32),
        "k": np.array([2, 0, 3, 1], np.int32),
        "b": rng.integers(0, 2, (3, 4)).astype(bool),
        "z": (between(-1, 1, 3, 4) + 1j * between(-1, 1, 3, 4)).astype(np.complex64),
    }


INPUTS = _inputs()


def cases() -> list[Case]:
    """Every line of the table."""
    found, module = [], ""
    for line in TABLE.read_text().splitlines():
        if line.startswith("# "):
            module = line[2:]
        elif line:
            function = line.partition("(")[0] if line.startswith("np.") else line
            found.append(Case(line, function, module, partial(_run, line)))
    return found


def _run(line: str) -> tuple[Sequence[Any], Sequence[Any]]:
    code = compile(line, "<table>", "eval")
    names = [name for name in INPUTS if name in code.co_names or any(name in each for each in _inner_names(code))]
    function: Callable[..., Any] = eval(f"lambda {', '.join(names)}: {line}", {"np": np})
    inputs = [INPUTS[name] for name in names]
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            expected = _leaves(function(*inputs))
        except Exception as error:  # of any kind: NumPy does not take it
            raise NotTaken(str(error)) from error
        found = _leaves(ipu.compile(function, args=inputs, target=TARGET)(*inputs))
    return found, [_in_our_type(*each) for each in zip(found, expected, strict=False)] + expected[len(found) :]


def _inner_names(code: Any) -> list[tuple[str, ...]]:
    return [each.co_names for each in code.co_consts if hasattr(each, "co_names")]


def _leaves(value: Any) -> list[Any]:
    if isinstance(value, tuple | list):
        return [leaf for each in value for leaf in _leaves(each)]
    return [] if value is None or isinstance(value, str | np.dtype | type) else [np.asarray(value)]


def _in_our_type(found: np.ndarray, expected: np.ndarray) -> np.ndarray:
    """Floats in the width of ``found``: a program keeps that of its tensors."""
    kinds = found.dtype.kind + expected.dtype.kind
    return expected.astype(found.dtype) if kinds in ("ff", "cc") else expected


if __name__ == "__main__":
    run_all(cases, __doc__, "Functions of NumPy", HEAD, "numpy-functions.md")
