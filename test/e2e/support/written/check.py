"""A written program against the library whose names it has."""

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from support.written.draw import Program, draw

import ipu_mlir as ipu

TOLERANCE = 2e-4
"""Of the largest number of a result, beside what the library itself is off in 32 bits."""
_OWN_ERROR = 20
_TARGETS = (None, 4, 16, None)
_KERNELS = ("auto", "auto", "always", "never")


class Numpy:
    """Programs of NumPy's functions, traced."""

    def program(self, seed: int) -> Program:
        from support.written.in_numpy import FAMILIES

        return draw(seed, FAMILIES, {"np": np}, lambda array: array)

    def function(self, program: Program) -> Callable[..., Any]:
        names: dict[str, Any] = {"np": np}
        exec(program.source, names)
        return names["f"]

    def arguments(self, arrays: Sequence[np.ndarray]) -> list[Any]:
        return list(arrays)


class Jax:
    """Programs of JAX's functions, loops and transformations."""

    def program(self, seed: int) -> Program:
        import jax.numpy as jnp
        from support.written.in_jax import FAMILIES, NAMES

        return draw(seed, FAMILIES, NAMES, jnp.asarray)

    def function(self, program: Program) -> Callable[..., Any]:
        import jax
        from support.written.in_jax import NAMES

        names: dict[str, Any] = dict(NAMES)
        exec(program.source, names)
        return jax.jit(names["f"])

    def arguments(self, arrays: Sequence[np.ndarray]) -> list[Any]:
        return list(arrays)


class Tensorflow:
    """Programs of TensorFlow's functions, in graph mode."""

    def program(self, seed: int) -> Program:
        import tensorflow as tf
        from support.written.in_tensorflow import FAMILIES, NAMES

        return draw(seed, FAMILIES, NAMES, tf.constant)

    def function(self, program: Program) -> Callable[..., Any]:
        import tensorflow as tf
        from support.written.in_tensorflow import NAMES

        names: dict[str, Any] = dict(NAMES)
        exec(program.source, names)
        return tf.function(names["f"], autograph=False)

    def arguments(self, arrays: Sequence[np.ndarray]) -> list[Any]:
        import tensorflow as tf

        return [tf.constant(each) for each in arrays]


class Torch:
    """Programs of PyTorch's functions, as modules."""

    def program(self, seed: int) -> Program:
        import torch
        from support.written.in_torch import FAMILIES, NAMES

        with torch.no_grad():
            return draw(seed, FAMILIES, NAMES, torch.from_numpy)

    def function(self, program: Program) -> Callable[..., Any]:
        import torch
        from support.written.in_torch import NAMES

        names = dict(NAMES)
        exec(program.source, names)

        class Module(torch.nn.Module):
            def forward(self, *given: Any) -> Any:
                return names["f"](*given)

        return Module().eval()

    def arguments(self, arrays: Sequence[np.ndarray]) -> list[Any]:
        import torch

        return [torch.from_numpy(each.copy()) for each in arrays]


LIBRARIES = {"numpy": Numpy(), "jax": Jax(), "tensorflow": Tensorflow(), "torch": Torch()}


def problem(seed: int, library: str) -> str:
    """How the program of a seed differs from what its library gives, or its error; nothing if they agree.

    ``seed`` chooses the machine and whether there are kernels, too.
    """
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        program = LIBRARIES[library].program(seed)
        if not program.lines:
            return ""
        try:
            return _difference(program, seed, library)
        except ipu.IpuError as error:
            return f"{type(error).__name__}: {' '.join(str(error).split())}"[:600]


def _difference(program: Program, seed: int, library: str) -> str:
    made = LIBRARIES[library]
    function = made.function(program)
    expected = _arrays(function(*made.arguments(program.inputs)))
    wide = [each.astype(np.float64) if each.dtype == np.float32 else each for each in program.inputs]
    try:
        exact = _arrays(function(*made.arguments(wide)))
    except Exception:  # of any kind, of a framework where a constant of the program is in 32 bits
        exact = expected
    tiles = _TARGETS[seed % 4]
    target = None if tiles is None else ipu.Target(tiles_per_ipu=tiles)
    given = made.arguments(program.inputs)
    executable = ipu.compile(function, args=given, target=target, kernels=_KERNELS[seed // 4 % 4])
    for name, one, other, best in zip(program.results, _arrays(executable(*given)), expected, exact, strict=True):
        if one.shape != other.shape or one.dtype.kind != other.dtype.kind:
            return f"{name} is {one.dtype}{one.shape}, not {other.dtype}{other.shape}"
        if best.shape != other.shape:
            continue
        if other.dtype.kind == "f":
            off = np.abs(best - other).max()
            bad = ~(
                np.abs(one.astype(np.float64) - other) <= TOLERANCE * max(1, np.abs(other).max()) + _OWN_ERROR * off
            )
        else:
            bad = (one != other) & (best == other)
        if bad.any():
            return f"{name} differs in {bad.sum()} of {bad.size}: {one[bad][:3]} for {other[bad][:3]}"
    return ""


def _arrays(results: Any) -> list[np.ndarray]:
    return [np.asarray(each) for each in (results if isinstance(results, tuple | list) else (results,))]
