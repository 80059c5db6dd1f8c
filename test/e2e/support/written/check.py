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

    def with_gradients(self, function: Callable[..., Any]) -> Callable[..., Any]:
        import jax
        import jax.numpy as jnp

        def both(*given: Any) -> Any:
            def loss(floats: Any) -> Any:
                results = function(*(floats.get(n, each) for n, each in enumerate(given)))
                return sum(jnp.sum(jnp.sin(each)) for each in results if each.dtype == given[0].dtype), results

            floats = {n: each for n, each in enumerate(given) if each.dtype == given[0].dtype}
            gradients, results = jax.grad(loss, has_aux=True)(floats)
            return *results, *gradients.values()

        return jax.jit(both)

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

    def with_gradients(self, function: Callable[..., Any]) -> Callable[..., Any]:
        import tensorflow as tf

        def both(*given: Any) -> Any:
            floats = [each for each in given if each.dtype == given[0].dtype]
            with tf.GradientTape() as tape:
                tape.watch(floats)
                results = function(*given)
                of = [tf.reduce_sum(tf.sin(each)) for each in results if each.dtype == given[0].dtype]
            gradients = tape.gradient(of, floats, unconnected_gradients=tf.UnconnectedGradients.ZERO)
            return *results, *map(tf.convert_to_tensor, gradients)

        return tf.function(both, autograph=False)

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
        from support.written.in_torch import NAMES

        names = dict(NAMES)
        exec(program.source, names)

        return _module(names["f"])

    def with_gradients(self, function: Callable[..., Any]) -> Callable[..., Any]:
        import torch

        def both(*given: Any) -> Any:
            own = [each.detach().requires_grad_() if each.dtype == given[0].dtype else each for each in given]
            results = function(*own)
            of = [each.sin().sum() for each in results if each.requires_grad and each.dtype == given[0].dtype]
            floats = [each for each in own if each.requires_grad]
            gradients = torch.autograd.grad(of, floats, allow_unused=True) if of else [None] * len(floats)
            slopes = [torch.zeros_like(x) if each is None else each for x, each in zip(floats, gradients, strict=True)]
            return [each.detach() for each in (*results, *slopes)]

        return _module(both)

    def arguments(self, arrays: Sequence[np.ndarray]) -> list[Any]:
        import torch

        return [torch.from_numpy(each.copy()) for each in arrays]


def _module(function: Callable[..., Any]) -> Any:
    import torch

    class Module(torch.nn.Module):
        def forward(self, *given: Any) -> Any:
            return function(*given)

    return Module().eval()


LIBRARIES = {"numpy": Numpy(), "jax": Jax(), "tensorflow": Tensorflow(), "torch": Torch()}


def problem(seed: int, library: str) -> str:
    """How the program of a seed differs from what its library gives, or its error; nothing if they agree.

    ``seed`` chooses the machine, whether there are kernels, and whether gradients are compared, too.
    """
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        program = LIBRARIES[library].program(seed)
        if not program.lines:
            return ""
        try:
            return _difference(program, seed, library, seed % 3 == 0)
        except ipu.IpuError as error:
            return f"{type(error).__name__}: {' '.join(str(error).split())}"[:600]


def _difference(program: Program, seed: int, library: str, is_differentiated: bool) -> str:
    made = LIBRARIES[library]
    function = made.function(program)
    names = program.results
    if is_differentiated and hasattr(made, "with_gradients"):
        function = made.with_gradients(function)
        names = [*names, *(f"the gradient of a{n}" for n, each in enumerate(program.inputs) if each.dtype.kind == "f")]
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
    for name, one, other, best in zip(names, _arrays(executable(*given)), expected, exact, strict=True):
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
