"""Numbers of bf16 and the f8 types, for cases of programs on them; ml_dtypes does the rounding that is expected."""

from typing import Any

import ml_dtypes
import numpy as np

NARROW: dict[str, Any] = {
    "bf16": ml_dtypes.bfloat16,
    "f8E3M4": ml_dtypes.float8_e3m4,
    "f8E4M3": ml_dtypes.float8_e4m3,
    "f8E4M3B11FNUZ": ml_dtypes.float8_e4m3b11fnuz,
    "f8E4M3FN": ml_dtypes.float8_e4m3fn,
    "f8E4M3FNUZ": ml_dtypes.float8_e4m3fnuz,
    "f8E5M2": ml_dtypes.float8_e5m2,
    "f8E5M2FNUZ": ml_dtypes.float8_e5m2fnuz,
    "f8E8M0FNU": ml_dtypes.float8_e8m0fnu,
}
F8 = tuple(name for name in NARROW if name != "bf16")
SIGNED = tuple(name for name in NARROW if name != "f8E8M0FNU")
WIDE = {"f16": np.float16, "f32": np.float32, "f64": np.float64}
VALUES = (0.0, -0.0, 0.25, 0.5, -0.5, 1.0, -1.0, 1.25, -2.5, 3.5, 7.0, -13.0, 15.5, 200.0, 1e-3, np.inf, np.nan)


def narrow_values(element: str) -> np.ndarray:
    """Ordinary, large, tiny and special numbers of the type."""
    with np.errstate(all="ignore"):
        return np.array(VALUES, np.float32).astype(NARROW[element])


def narrowed(element: str, x: np.ndarray) -> np.ndarray:
    """Numbers of f32, or of a type that f32 holds, rounded to the type."""
    return np.asarray(x).astype(np.float32).astype(NARROW[element])


def some_narrow(element: str, *shape: int) -> np.ndarray:
    """Random numbers from 0.25 to 2, the same in every run."""
    generator = np.random.default_rng(7)
    return generator.uniform(0.25, 2, shape).astype(np.float32).astype(NARROW[element])
