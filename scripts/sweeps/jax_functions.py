"""Run the functions of JAX, their gradients too, on inputs of several types.

python scripts/sweeps/jax_functions.py results.jsonl
"""

import zlib
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from outcomes import TARGET, Case, NotTaken, run_all

import ipu_mlir as ipu

HEAD = f"""Written by `scripts/sweeps/jax_functions.py` with jax {jax.__version__}: functions of arrays on
small inputs in float32, int32 and bool where JAX takes them, every sixth case in float16 and bfloat16, and gradients
where they are not 0 everywhere, compared with what JAX gives. `jax.numpy.linalg` and
`jax.numpy.fft` are not among them, nor what runs between devices."""
TABLE = Path(__file__).with_name("jax_functions.txt")
TYPES = ("float32", "int32", "bool", "float16", "bfloat16")
SAMPLED = ("float16", "bfloat16")
"""Types in which every sixth case runs."""
MODULES = {
    "jnp": jax.numpy,
    "nn": jax.nn,
    "lax": jax.lax,
    "special": jax.scipy.special,
    "random": jax.random,
}


def _inputs() -> dict[str, np.ndarray]:
    """What the names in the table stand for, in float32; those in ``_FIXED`` are of other types, or never change."""
    rng = np.random.default_rng(1)

    def between(low: float, high: float, *shape: int) -> np.ndarray:
        return rng.uniform(low, high, shape).astype(np.float32)

    x = between(-2.5, 2.5, 3, 4)
    positive, below = between(0.6, 3.4, 3, 4), between(0.1, 0.9, 3, 3)
    return {
        "x": x,
        "y": between(-2.5, 2.5, 3, 4),
        "v": between(-2.5, 2.5, 5),
        "w": between(-2.5, 2.5, 5),
        "t": between(-2.5, 2.5, 2, 3, 4),
        "p": positive,
        "q": between(0.6, 3.4, 3, 4),
        "s": np.sort(between(-2.5, 2.5, 6)),
        "u": between(0.05, 0.95, 3, 4),
        "n": np.where(x > 1, np.nan, x).astype(np.float32),
        "f": x * 3,
        "f4": between(-1, 1, 1, 3, 2, 4),
        "image": between(-1, 1, 1, 6, 6, 2),
        "kernel": between(-1, 1, 3, 3, 2, 4),
        "m": below @ below.T + np.eye(3, dtype=np.float32),
        "i": rng.integers(0, 3, (3, 4)).astype(np.int32),
        "j": rng.integers(1, 7, (3, 4)).astype(np.int32),
        "k": np.array([2, 0, 2, 1], np.int32),
        "c": rng.integers(0, 2, (3, 4)).astype(bool),
        "key": np.array([3, 7], np.uint32),
    }


INPUTS = _inputs()
_FIXED = frozenset(("f", "f4", "u", "n", "image", "kernel", "m", "i", "j", "k", "c", "key"))
_ONES = frozenset(("p", "q"))
"""Divisors and the like: not 0 as integers."""


def cases() -> list[Case]:
    """Every line of the table in every type that JAX takes it in, and its gradient; first those in float32."""
    found = []
    module = ""
    for line in TABLE.read_text().splitlines():
        if line.startswith("# "):
            module = line[2:]
        elif line:
            found += _cases_of(line, module)
    return sorted(found, key=lambda case: "  in " in case.name)


def constant_cases() -> list[Case]:
    """Every line in the same types on constants alone, which the program has in it, but for a zero."""
    found = []
    for line in TABLE.read_text().splitlines():
        if line and not line.startswith("# "):
            function, names, varying = _parsed(line)
            kinds = TYPES if varying and not zlib.crc32(line.encode()) % 6 else TYPES[: 3 if varying else 1]
            found += [
                Case(f"{line}  in {kind}", line, "", partial(_both_of_constants, function, names, kind), kind=kind)
                for kind in kinds
            ]
    return found


def left_out() -> set[str]:
    """The public functions that no line is about."""
    lines = TABLE.read_text()
    names = {
        f"{module}.{name}"
        for module, functions in MODULES.items()
        for name, value in vars(functions).items()
        if callable(value) and not name.startswith("_") and not isinstance(value, type)
    }
    return {name for name in names if f"{name}(" not in lines} - {f"{m}.{n}" for m, ns in OTHERS.items() for n in ns}


OTHERS = {
    "jnp": (
        *("array_repr", "array_str", "broadcast_shapes", "can_cast", "dtype", "einsum_path", "from_dlpack"),
        *("frombuffer", "fromfile", "fromiter", "fromstring", "get_printoptions", "iscomplexobj", "isdtype"),
        *("isrealobj", "isscalar", "issubdtype", "iterable", "load", "ndim", "printoptions", "promote_types"),
        *("result_type", "save", "savez", "set_printoptions", "shape", "size", "trim_zeros"),
    ),
    "nn": ("get_scaled_dot_general_config", "scaled_dot_general"),
    "lax": (
        *("after_all", "all_gather", "all_to_all", "axis_index", "axis_size", "broadcast_shapes", "create_token"),
        *("conv_dimension_numbers", "conv_general_permutations", "conv_general_shape_tuple", "conv_shape_tuple"),
        *("conv_transpose_shape_tuple", "dce_sink", "dtype", "padtype_to_pads", "pbroadcast", "pcast", "pmax"),
        *("pmean", "pmin", "ppermute", "precv", "psend", "pshuffle", "psum", "psum_scatter", "pswapaxes"),
        *("ConvGeneralDilatedDimensionNumbers", "DotDimensionNumbers", "PrecisionLike", "ragged_all_to_all"),
        *("reduce_window_shape_tuple", "shape_as_value", "with_sharding_constraint"),
    ),
    "random": ("key_dtype", "key_impl"),
}
"""Functions of shapes, types and files, those between devices, and those that JAX has for other devices only."""


def function_of(line: str) -> str:
    """The function that a line is about."""
    head = line[: line.index("(")] if "(" in line else line
    names = [part for part in line.replace("(", " ").replace("[", " ").split() if part.partition(".")[0] in MODULES]
    return head if head.partition(".")[0] in MODULES else names[0] if names else "indexing"


def _parsed(line: str) -> tuple[Callable[..., Any], list[str], list[str]]:
    """The function that a line stands for, the names of its arguments, and of those whose type varies."""
    code = compile(line, line, "eval")
    names = [name for name in INPUTS if name in code.co_names or name in _names_inside(code)]

    def function(*values: Any) -> Any:
        return eval(code, {**MODULES, "jax": jax, "np": np, **dict(zip(names, values, strict=True))})

    return function, names, [name for name in names if name not in _FIXED]


def _cases_of(line: str, module: str) -> Iterator[Case]:
    function, names, varying = _parsed(line)
    for kind in TYPES if varying else TYPES[:1]:
        if kind in SAMPLED and zlib.crc32(line.encode()) % 6:
            continue
        title = line if kind == TYPES[0] else f"{line}  in {kind}"
        yield Case(title, function_of(line), module, partial(_both, function, names, kind), kind=kind)
    floats = [number for number, name in enumerate(names) if INPUTS[name].dtype.kind == "f"]
    if floats:
        yield Case(
            f"{line}  gradient",
            function_of(line),
            module,
            partial(_both, gradient(function, floats), names, TYPES[0], True),
            5,
            True,
        )


def _names_inside(code: Any) -> set[str]:
    inner = [each for each in code.co_consts if hasattr(each, "co_names")]
    return {name for each in inner for name in (*each.co_names, *_names_inside(each))}


def _value(name: str, kind: str) -> Any:
    array = INPUTS[name]
    if name == "key":
        return jax.random.wrap_key_data(jnp.asarray(array))
    if name in _FIXED:
        return jnp.asarray(array)
    if kind == "int32":
        array = np.ceil(array) if name in _ONES else np.rint(array)
    if kind == "bool":
        array = array > (0 if name in _ONES else 0.2)
    return jnp.asarray(array).astype(kind)


def _both(function: Any, names: Sequence[str], kind: str, is_gradient: bool = False) -> tuple[list[Any], list[Any]]:
    values = [_value(name, kind) for name in names]
    try:
        expected = jax.jit(function)(*values)
    except Exception as error:
        raise NotTaken(f"{type(error).__name__}: {error}") from error
    if is_gradient and not any(np.any(np.asarray(each)) for each in expected):
        raise NotTaken("0 everywhere")
    found = ipu.compile(jax.jit(function), args=values, target=TARGET)(*values)
    return _leaves(found), _leaves(expected)


def _both_of_constants(function: Any, names: Sequence[str], kind: str) -> tuple[list[Any], list[Any]]:
    values, zero = [_value(name, kind) for name in names], jnp.int32(0)

    def added(zero: Any) -> Any:
        return [each if each.dtype == bool else each + zero.astype(each.dtype) for each in _leaves(function(*values))]

    try:
        expected = jax.jit(function)(*values)
    except Exception as error:
        raise NotTaken(f"{type(error).__name__}: {error}") from error
    return _leaves(ipu.compile(jax.jit(added), args=[zero], target=TARGET)(zero)), _leaves(expected)


def gradient(function: Any, floats: Sequence[int]) -> Any:
    """The gradient of a sum of all results with weights, for the arguments ``floats``."""

    def total(*values: Any) -> Any:
        leaves = [leaf for leaf in jax.tree.leaves(function(*values)) if jnp.issubdtype(leaf.dtype, jnp.floating)]
        if not leaves:
            raise TypeError("no result is differentiable")
        return sum((jnp.cos(jnp.arange(leaf.size, dtype=leaf.dtype)) * leaf.ravel()).sum() for leaf in leaves)

    return jax.grad(total, argnums=tuple(floats))


def _leaves(tree: Any) -> list[Any]:
    keys = jax.dtypes.prng_key
    leaves = jax.tree.leaves(tree)
    return [jax.random.key_data(each) if jnp.issubdtype(each.dtype, keys) else each for each in leaves]


if __name__ == "__main__":
    run_all(cases, __doc__, "Functions of JAX", HEAD, "jax-functions.md")
