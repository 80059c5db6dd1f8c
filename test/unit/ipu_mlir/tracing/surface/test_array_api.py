"""The Python array API standard: every function gives what array-api-strict gives, for drawn shapes and types."""

import os
import warnings
from collections.abc import Callable
from typing import Any

import array_api_strict
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import ipu_mlir as ipu
from ipu_mlir.tracing.surface import namespace

EXAMPLES = int(os.environ.get("IPU_ARRAY_API_EXAMPLES", "1"))
"""How many shapes and types are drawn for each group; the standard is met for hundreds of them as well."""

SMALL = ipu.Target(tiles_per_ipu=4)
FLOATS, COMPLEX, BOOLS = ("float32", "float64"), ("complex64", "complex128"), ("bool",)
INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
Call = Callable[..., Any]

ABSENT = {
    "nonzero": "the shape of its result depends on values",
    "unique_all": "the shape of its result depends on values",
    "unique_counts": "the shape of its result depends on values",
    "unique_inverse": "the shape of its result depends on values",
    "unique_values": "the shape of its result depends on values",
}
"""Functions of the standard that are refused, and why; the standard lets libraries that compile leave them out."""

_NEWER = {"broadcast_shapes", "isin", "eig", "eigvals"}  # of 2025.12
_NOT_OF_THE_STANDARD = {"ArrayAPIStrictFlags", "Device", "ModuleType", "linalg", "fft"}


def _standard() -> set[str]:
    """Every name of the standard: of the namespace, and with ``linalg.`` and ``fft.`` of its extensions."""
    own = {name for name in dir(array_api_strict) if not name.startswith("_") and "array_api_strict" not in name}
    extensions = {
        f"{extension}.{name}"
        for extension in ("linalg", "fft")
        for name in getattr(array_api_strict, extension).__all__
        if name not in _NEWER
    }
    return (own - _NOT_OF_THE_STANDARD - _NEWER) | extensions


def _each(names: str, change: Call = lambda x: x) -> dict[str, Call]:
    return {name: lambda xp, x, name=name: getattr(xp, name)(change(x)) for name in names.split()}


def _pairs(names: str, change: Call = lambda y: y) -> dict[str, Call]:
    return {name: lambda xp, x, y, name=name: getattr(xp, name)(x, change(y)) for name in names.split()}


_POSITIVE = "log log1p log2 log10 sqrt reciprocal"
_ANY = "abs positive negative square sign isfinite isinf isnan round"
_TRIGONOMETRY = "sin cos tan sinh cosh tanh asinh atan exp expm1"

ONE_FLOAT = {
    **_each(f"{_ANY} {_TRIGONOMETRY} ceil floor trunc signbit real conj imag"),
    **_each(_POSITIVE, lambda x: abs(x) + 0.5),
    **_each("asin acos atanh", lambda x: x % 1),
    **_each("acosh", lambda x: abs(x) + 1),
}
ONE_COMPLEX = {
    **_each(
        f"{_ANY.replace('sign ', '')} {_TRIGONOMETRY} asin acos atanh acosh real imag conj sign log log2 log10 sqrt"
    ),
    **_each("log1p reciprocal", lambda x: x + 5),
}
del ONE_FLOAT["imag"]  # of complex numbers only
ONE_INTEGER = _each("abs positive negative square sign isfinite isinf isnan ceil floor trunc round bitwise_invert")
ONE_BOOL = _each("logical_not bitwise_invert any all count_nonzero")
TWO_FLOATS = {
    **_pairs("add subtract multiply equal not_equal less less_equal greater greater_equal maximum minimum hypot"),
    **_pairs("copysign logaddexp atan2 nextafter"),
    **_pairs("divide floor_divide remainder", lambda y: abs(y) + 0.5),
    "pow": lambda xp, x, y: xp.pow(abs(x) + 0.5, y),
    "clip": lambda xp, x, y: xp.clip(x, -1.0, 1.0),
    "result_type": lambda xp, x, y: xp.astype(x, xp.result_type(x, y)),
    "where": lambda xp, x, y: xp.where(x > y, x, y),
    "numbers": lambda xp, x, y: xp.add(x, 2) * 0.5 + xp.where(y > 0, 1.0, y),
}
TWO_INTEGERS = {
    **_pairs("add subtract multiply equal not_equal less less_equal greater greater_equal maximum minimum"),
    **_pairs("bitwise_and bitwise_or bitwise_xor"),
    **_pairs("bitwise_left_shift bitwise_right_shift pow", lambda y: y & 3),
    **_pairs("floor_divide remainder", lambda y: y | 1),
}
TWO_BOOLS = _pairs("logical_and logical_or logical_xor bitwise_and bitwise_or bitwise_xor equal not_equal")
TWO_COMPLEX = {
    **_pairs("add subtract multiply equal not_equal"),
    **_pairs("divide", lambda y: y + 5),
    "pow": lambda xp, x, y: xp.pow(x + 5, y * 0.5),
    "where": lambda xp, x, y: xp.where(xp.real(x) > 0, x, y),
}
REDUCED = {
    **{
        f"{name} {key}": lambda xp, x, name=name, options=options: getattr(xp, name)(x, **options)
        for name in ("sum", "prod", "max", "min", "any", "all", "count_nonzero")
        for key, options in {"all": {}, "along": {"axis": -1}, "kept": {"axis": 0, "keepdims": True}}.items()
    },
    "argmax": lambda xp, x: xp.argmax(x, axis=-1),
    "argmin": lambda xp, x: xp.argmin(x, keepdims=True),
    "cumulative_sum": lambda xp, x: xp.cumulative_sum(x, axis=0, include_initial=True),
    "cumulative_prod": lambda xp, x: xp.cumulative_prod(x, axis=-1),
    "sort": lambda xp, x: xp.sort(x, axis=0),
    "sort descending": lambda xp, x: xp.sort(x, descending=True),
    "argsort": lambda xp, x: xp.argsort(x),
    "argsort descending": lambda xp, x: xp.argsort(x, axis=0, descending=True),
    "searchsorted": lambda xp, x: xp.searchsorted(xp.sort(xp.reshape(x, (-1,))), xp.reshape(x, (-1,)), side="right"),
}
REDUCED_FLOATS = {
    "mean": lambda xp, x: xp.mean(x, axis=0),
    "std": lambda xp, x: xp.std(x, axis=-1, correction=0.5),
    "var": lambda xp, x: xp.var(x, keepdims=True),
    "sum": lambda xp, x: xp.sum(x, dtype=xp.float64),
}
REDUCED_COMPLEX = {
    "sum": lambda xp, x: xp.sum(x, axis=0),
    "prod": lambda xp, x: xp.prod(x, axis=-1),
    "mean": lambda xp, x: xp.mean(x),
    "cumulative_sum": lambda xp, x: xp.cumulative_sum(x, axis=0),
    "cumulative_prod": lambda xp, x: xp.cumulative_prod(x, axis=-1),
}
ARRANGED = {
    "broadcast_to": lambda xp, x: xp.broadcast_to(x, (2, *x.shape)),
    "broadcast_arrays": lambda xp, x: xp.broadcast_arrays(x, x[0, ...])[1],
    "concat": lambda xp, x: xp.concat([x, x], axis=-1),
    "concat flat": lambda xp, x: xp.concat([x, x], axis=None),
    "stack": lambda xp, x: xp.stack([x, x], axis=1),
    "unstack": lambda xp, x: xp.unstack(x)[0],
    "expand_dims": lambda xp, x: xp.expand_dims(x, axis=-1),
    "squeeze": lambda xp, x: xp.squeeze(x[None, ...], axis=0),
    "flip": lambda xp, x: xp.flip(x, axis=0),
    "moveaxis": lambda xp, x: xp.moveaxis(x, 0, -1),
    "permute_dims": lambda xp, x: xp.permute_dims(x, tuple(range(x.ndim))[::-1]),
    "matrix_transpose": lambda xp, x: xp.matrix_transpose(x),
    "repeat": lambda xp, x: xp.repeat(x, 2, axis=0),
    "reshape": lambda xp, x: xp.reshape(x, (-1,)),
    "roll": lambda xp, x: xp.roll(x, (1, 2), axis=(0, 1)),
    "tile": lambda xp, x: xp.tile(x, (2, 1)),
    "take": lambda xp, x: xp.take(x, xp.asarray([0, -1 + x.shape[0]]), axis=0),
    "take_along_axis": lambda xp, x: xp.take_along_axis(x, xp.zeros(x.shape, dtype=xp.int64), axis=0),
    "tril": lambda xp, x: xp.tril(x, k=1),
    "triu": lambda xp, x: xp.triu(x),
    "meshgrid": lambda xp, x: xp.meshgrid(xp.reshape(x, (-1,)), xp.reshape(x, (-1,)))[0],
    "diff": lambda xp, x: xp.diff(xp.astype(x, xp.float64) if x.dtype == xp.bool else x, axis=0),
    "zeros_like": lambda xp, x: xp.zeros_like(x),
    "ones_like": lambda xp, x: xp.ones_like(x),
    "full_like": lambda xp, x: xp.full_like(x, 1),
    "empty_like": lambda xp, x: xp.zeros_like(xp.empty_like(x)),
    "astype": lambda xp, x: xp.astype(x, xp.complex128 if xp.isdtype(x.dtype, "complex floating") else xp.float32),
    "asarray": lambda xp, x: xp.asarray(x),
    "T": lambda xp, x: x.T if x.ndim == 2 else x,
    "mT": lambda xp, x: x.mT,
    "part": lambda xp, x: x[0, 1:, ...],
    "reverse": lambda xp, x: x[::-1, None, ..., -1],
    "to_device": lambda xp, x: x.to_device(x.device),
}
MATRICES = {
    "matmul": lambda xp, x: xp.matmul(x, x),
    "@": lambda xp, x: x @ x[0, :],
    "tensordot": lambda xp, x: xp.tensordot(x, x, axes=1),
    "vecdot": lambda xp, x: xp.vecdot(x, x, axis=-2),
    "linalg.matmul": lambda xp, x: xp.linalg.matmul(x, x),
    "linalg.tensordot": lambda xp, x: xp.linalg.tensordot(x, x, axes=2),
    "linalg.vecdot": lambda xp, x: xp.linalg.vecdot(x, x),
    "linalg.outer": lambda xp, x: xp.linalg.outer(x[0, :], x[:, 0]),
    "linalg.diagonal": lambda xp, x: xp.linalg.diagonal(x, offset=1),
    "linalg.trace": lambda xp, x: xp.linalg.trace(x),
    "linalg.matrix_transpose": lambda xp, x: xp.linalg.matrix_transpose(x),
    "linalg.matrix_power": lambda xp, x: xp.linalg.matrix_power(x, 3),
    "linalg.matrix_norm": lambda xp, x: xp.linalg.matrix_norm(x),
    "linalg.vector_norm": lambda xp, x: xp.linalg.vector_norm(x, axis=0, keepdims=True),
    "linalg.cross": lambda xp, x: xp.linalg.cross(x[:3, :3], x[:3, :3] + 1),
}
REAL_MATRICES = {
    "linalg.cholesky": lambda xp, x: xp.linalg.cholesky(x @ x.mT),
    "linalg.det": lambda xp, x: xp.linalg.det(x),
    "linalg.slogdet": lambda xp, x: xp.linalg.slogdet(x).logabsdet,
    "linalg.inv": lambda xp, x: xp.linalg.inv(x),
    "linalg.solve": lambda xp, x: xp.linalg.solve(x, x[:, 0]),
    "linalg.qr": lambda xp, x: xp.linalg.qr(x[:, :2]).R,
    "linalg.eigh": lambda xp, x: xp.linalg.eigh(x + x.mT).eigenvalues,
    "linalg.eigvalsh": lambda xp, x: xp.linalg.eigvalsh(x + x.mT),
    "linalg.svd": lambda xp, x: (lambda u, s, vh: (u * s) @ vh)(*xp.linalg.svd(x, full_matrices=False)),
    "linalg.svdvals": lambda xp, x: xp.linalg.svdvals(x[:, :2]),
    "linalg.pinv": lambda xp, x: xp.linalg.pinv(x[:, :2]),
    "linalg.matrix_rank": lambda xp, x: xp.linalg.matrix_rank(x),
}
TRANSFORMED = {
    **{f"fft.{name}": lambda xp, x, name=name: getattr(xp.fft, name)(x) for name in ("fft", "ifft", "fftn", "ifftn")},
    **{f"fft.{name}": lambda xp, x, name=name: getattr(xp.fft, name)(x) for name in ("fftshift", "ifftshift")},
    "fft.irfft": lambda xp, x: xp.fft.irfft(x, n=5),
    "fft.irfftn": lambda xp, x: xp.fft.irfftn(x, s=(3, 4), axes=(0, 1)),
    "fft.hfft": lambda xp, x: xp.fft.hfft(x, n=4, norm="ortho"),
    "fft.rfft": lambda xp, x: xp.fft.rfft(xp.real(x), n=6),
    "fft.rfftn": lambda xp, x: xp.fft.rfftn(xp.real(x), norm="forward"),
    "fft.ihfft": lambda xp, x: xp.fft.ihfft(xp.real(x)),
    "fft.fftfreq": lambda xp, x: xp.fft.fftfreq(5, d=0.5),
    "fft.rfftfreq": lambda xp, x: xp.fft.rfftfreq(6),
}
MADE = {
    "arange": lambda xp, x: xp.arange(1, 9, 2),
    "eye": lambda xp, x: xp.eye(3, 4, k=1),
    "full": lambda xp, x: xp.full((2, 3), 7),
    "ones": lambda xp, x: xp.ones((2,), dtype=xp.int16),
    "zeros": lambda xp, x: xp.zeros((2, 0)),
    "empty": lambda xp, x: xp.zeros_like(xp.empty((2, 3), dtype=xp.float32)),
    "linspace": lambda xp, x: xp.linspace(0, 1, 5, endpoint=False),
    "from_dlpack": lambda xp, x: xp.from_dlpack(np.arange(3)),
    "isdtype": lambda xp, x: xp.asarray(xp.isdtype(x.dtype, "real floating")),
    "can_cast": lambda xp, x: xp.asarray([xp.can_cast(x, xp.float64), xp.can_cast(x.dtype, xp.int8)]),
    "finfo": lambda xp, x: xp.asarray(float(xp.finfo(x.dtype).eps)),
    "iinfo": lambda xp, x: xp.asarray(xp.iinfo(xp.int16).max),
    **{name: lambda xp, x, name=name: xp.asarray(getattr(xp, name)) for name in ("e", "inf", "nan", "pi")},
    "newaxis": lambda xp, x: x[xp.newaxis, ...],
    **{
        name: lambda xp, x, name=name: xp.ones((2,), dtype=getattr(xp, name))
        for name in (*INTEGERS, *FLOATS, *COMPLEX, *BOOLS)
    },
    "operators": lambda xp, x: (-x + 1) * 2 / 3 - abs(x) ** 2,
    "comparisons": lambda xp, x: ((x > 0) & ~(x >= 1)) | (x != x) ^ (x < -1),
    "augmented": lambda xp, x: _augmented(x),
}

# what is drawn: types of each operand, least rank, and what a matrix is made of
GROUPS: dict[str, tuple[dict[str, Call], tuple[tuple[str, ...], ...], str]] = {
    "one float": (ONE_FLOAT, (FLOATS,), "special"),
    "one complex": (ONE_COMPLEX, (COMPLEX,), "any"),
    "one integer": (ONE_INTEGER, (INTEGERS,), "any"),
    "one bool": (ONE_BOOL, (BOOLS,), "any"),
    "two floats": (TWO_FLOATS, (FLOATS, FLOATS), "special"),
    "two integers": (TWO_INTEGERS, (INTEGERS, INTEGERS), "any"),
    "two bools": (TWO_BOOLS, (BOOLS, BOOLS), "any"),
    "two complex": (TWO_COMPLEX, (COMPLEX, COMPLEX), "any"),
    "reduced": (REDUCED, ((*FLOATS, *INTEGERS),), "vectors"),
    "reduced floats": (REDUCED_FLOATS, (FLOATS,), "vectors"),
    "reduced complex": (REDUCED_COMPLEX, (COMPLEX,), "vectors"),
    "arranged": (ARRANGED, ((*FLOATS, *INTEGERS, *COMPLEX, *BOOLS),), "tables"),
    "matrices": (MATRICES, ((*FLOATS, *COMPLEX),), "squares"),
    "real matrices": (REAL_MATRICES, (FLOATS,), "squares"),
    "transformed": (TRANSFORMED, (COMPLEX,), "tables"),
    "made": (MADE, (FLOATS,), "any"),
}


def _augmented(x: Any) -> Any:
    y = x + 0
    y += 1
    y *= 2
    return y


@st.composite
def _arrays(draw: Any, types: tuple[tuple[str, ...], ...], what: str) -> list[np.ndarray]:
    """One array for each entry of ``types``; their shapes broadcast."""
    dtypes = [np.dtype(draw(st.sampled_from(each))) for each in types]
    if {each.kind for each in dtypes} == {"i", "u"}:  # NumPy has no integer type for some such pairs
        dtypes[1] = dtypes[0]
    sizes = st.integers(1, 4) if what in ("vectors", "tables") else st.sampled_from([1, 2, 3, 4, 0])
    if what == "squares":
        shape: tuple[int, ...] = (draw(st.integers(3, 5)),) * 2
    else:
        least = {"vectors": 1, "tables": 2}.get(what, 0)
        shape = tuple(draw(st.lists(sizes, min_size=least, max_size=3)))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    found = []
    for number, dtype in enumerate(dtypes):
        own = shape[draw(st.integers(0, len(shape))) :] if number else shape
        found.append(_values(rng, dtype, tuple(1 if number and draw(st.booleans()) else s for s in own), what))
    return found


def _values(rng: np.random.Generator, dtype: np.dtype, shape: tuple[int, ...], what: str) -> np.ndarray:
    if dtype.kind in "iu":
        return rng.integers(0 if dtype.kind == "u" else -9, 10, shape).astype(dtype)
    if dtype.kind == "b":
        return rng.integers(0, 2, shape).astype(dtype)
    values = rng.uniform(-2, 2, shape)
    if dtype.kind == "c":
        values = values + 1j * rng.uniform(-2, 2, shape)
    if what == "squares":
        values = values + 4 * np.eye(*shape)
    values = np.asarray(values.astype(dtype))
    if what == "special" and rng.integers(0, 2) and values.size:
        values.flat[rng.integers(0, values.size)] = rng.choice([np.inf, -np.inf, np.nan, -0.0, 0.0, 1e-40, 1e30])
    return values


@pytest.fixture(autouse=True)
def _version():
    array_api_strict.set_array_api_strict_flags(api_version="2024.12")
    yield
    array_api_strict.reset_array_api_strict_flags()


@pytest.mark.parametrize(
    "group", [pytest.param(each, marks=pytest.mark.slow if each == "one complex" else ()) for each in GROUPS]
)
def test_functions_of_the_standard(group):
    calls, types, what = GROUPS[group]

    @settings(
        max_examples=EXAMPLES, derandomize=True, deadline=None, database=None, suppress_health_check=list(HealthCheck)
    )
    @given(_arrays(types, what))
    def agree(arrays):
        with np.errstate(all="ignore"), warnings.catch_warnings(action="ignore"):
            strict = [array_api_strict.asarray(each) for each in arrays]
            expected = {name: np.asarray(call(array_api_strict, *strict)) for name, call in calls.items()}

        def program(*tensors):
            xp = tensors[0].__array_namespace__(api_version="2024.12")
            return {name: call(xp, *tensors) for name, call in calls.items()}

        executable = ipu.compile(ipu.function(program), args=arrays, target=SMALL)
        for name, found in executable(*arrays).items():
            wanted = expected[name]
            shown = f"{name} of {', '.join(f'{each.dtype}{list(each.shape)}' for each in arrays)}"
            assert (found.shape, found.dtype) == (wanted.shape, wanted.dtype), shown
            exact = wanted.dtype.kind not in "fc"
            tolerance = 0.0 if exact else 500 * float(np.finfo(wanted.dtype).eps)
            np.testing.assert_allclose(found, wanted, rtol=tolerance, atol=tolerance, err_msg=shown)

    agree()


def test_every_name_of_the_standard_is_tried_or_absent():
    tried = {name.split(" ")[0] for calls, _, _ in GROUPS.values() for name in calls}
    standard = _standard()
    assert standard - tried - set(ABSENT) == set()
    assert len(ABSENT) <= 0.05 * len(standard)
    for name in standard:
        owner, _, last = name.rpartition(".")
        assert hasattr(getattr(namespace, owner) if owner else namespace, last), name


@pytest.mark.parametrize("name", ABSENT)
def test_what_is_absent_is_refused_with_the_reason(name):
    with pytest.raises(TypeError, match=rf"np.{name} is not supported while tracing; its shape would depend on values"):
        ipu.function(lambda x: getattr(x.__array_namespace__(), name)(x)).trace(ipu.TensorSpec(3))


def test_outside_of_traced_functions_there_are_arrays():
    assert isinstance(namespace.zeros(3), np.ndarray) and namespace.arange(3).tolist() == [0, 1, 2]


def test_the_namespace_says_what_it_is():
    info = namespace.__array_namespace_info__()
    assert info.devices() == [info.default_device()]
    assert not any(info.capabilities()[each] for each in ("boolean indexing", "data-dependent shapes"))
    assert info.dtypes(kind="bool") == {"bool": np.dtype(np.bool_)} and len(info.dtypes()) == 13
    assert info.default_dtypes()["real floating"] == np.float64


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda x: x.__array_namespace__(api_version="2021.12"), "is followed in version 2024.12, not in 2021.12"),
        (lambda x: namespace.zeros(3, device="gpu"), "there is no device 'gpu'"),
        (lambda x: x.to_device("gpu"), "cannot go to 'gpu'"),
        (lambda x: namespace.astype(x * 1j, np.float32), r"complex numbers are no float32; use real\(x\) or imag\(x\)"),
        (lambda x: namespace.asarray(["a"]), "element type <U1 is not supported"),
        (lambda x: x.__dlpack__(), "is no number while tracing"),
        (lambda x: x.__dlpack_device__(), "is no number while tracing"),
    ],
)
def test_refused(function, message):
    with pytest.raises(ipu.IpuError, match=rf"test_array_api.py:\d+: .*{message}"):
        ipu.function(function).trace(ipu.TensorSpec((2, 3)))
