"""NumPy's functions and methods, as users write them: traced, they agree with NumPy on both executors."""

import re
import warnings

import numpy as np
import pytest

import ipu_mlir as ipu

SMALL = ipu.Target(name="small", tiles_per_ipu=4)
RNG = np.random.default_rng(416)
INPUTS: dict[str, np.ndarray] = {
    "x": RNG.uniform(-2, 2, (3, 4)).astype(np.float32),
    "y": RNG.uniform(0.25, 3, (3, 4)).astype(np.float32),
    "z": RNG.uniform(-0.9, 0.9, (3, 4)).astype(np.float32),
    "n": np.array([[1, np.nan, -2, 0], [0.5, 3, -1, 7], [np.nan, 2, 2, -0.5]], np.float32),
    "g": np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1.5, -2.5], np.float32),
    "v": np.array([3, -1, 2, -1, 0.5], np.float32),
    "w": np.array([0.5, 2, -1, 4, 1], np.float32),
    "s": RNG.uniform(-1, 1, (3, 3)).astype(np.float32) + 2 * np.eye(3, dtype=np.float32),
    "p": RNG.uniform(-2, 2, (2, 3, 4)).astype(np.float32),
    "i": RNG.integers(-5, 9, (3, 4)).astype(np.int32),
    "j": np.array([2, 0, 1, 2], np.int32),
    "u": RNG.integers(0, 255, (3, 4)).astype(np.uint8),
    "b": RNG.integers(0, 2, (3, 4)).astype(np.bool_),
    "d": RNG.uniform(-2, 2, (3, 4)),
}

_UNARY = (
    "negative positive absolute fabs rint sign conj conjugate exp exp2 expm1 sin cos tan sinh cosh tanh arctan arcsinh "
    "square cbrt floor ceil trunc isfinite isinf isnan signbit spacing degrees radians deg2rad rad2deg logical_not abs"
)
_POSITIVE = "log log2 log10 log1p sqrt reciprocal arccosh"
_WITHIN_ONE = "arcsin arccos arctanh asin acos atanh"
_BINARY = (
    "add subtract multiply divide true_divide floor_divide remainder mod fmod maximum minimum fmax fmin copysign hypot "
    "arctan2 atan2 nextafter logaddexp logaddexp2 heaviside greater greater_equal less less_equal equal not_equal "
    "logical_and logical_or logical_xor float_power"
)
_OF_INTEGERS = "bitwise_and bitwise_or bitwise_xor left_shift right_shift floor_divide remainder fmod maximum minimum"

CALLS: dict[str, list[str]] = {
    "one operand": [f"np.{name}(x)" for name in _UNARY.split()],
    "one positive operand": [f"np.{name}(y + (np.{name} is np.arccosh))" for name in _POSITIVE.split()]
    + [f"np.{name}(z)" for name in _WITHIN_ONE.split()],
    "two operands": [f"np.{name}(x, y)" for name in _BINARY.split()] + ["np.power(y, x)", "np.pow(y, 2)"],
    "integers": [f"np.{name}(i, np.abs(j))" for name in _OF_INTEGERS.split()]
    + ["np.invert(i)", "np.bitwise_not(b)", "np.bitwise_count(i)", "np.bitwise_count(u)", "np.bitwise_invert(i)"]
    + [
        "np.gcd(i, 6)",
        "np.gcd(i, i[::-1])",
        "np.lcm(i, j)",
        "np.gcd(u, 12)",
        "np.absolute(i)",
        "np.sign(i)",
        "np.square(i)",
        "np.power(i, 3)",
        "np.bitwise_left_shift(i, 2)",
        "u + u",
        "u // 7",
    ]
    + ["np.divmod(i, 3)", "u > 100", "np.maximum(u, 9)", "i @ i.T", "~u", "u >> 3", "np.negative(u)", "i % -3"],
    "parts of numbers": [
        *("np.modf(g)", "np.frexp(g)", "np.frexp(x)", "np.ldexp(x, j)", "np.ldexp(g, -3)", "np.fix(x)", "np.sinc(x)"),
        *("np.i0(x * 9)", "np.real(x)", "np.imag(x)", "np.angle(x)", "np.angle(x, deg=True)", "np.isposinf(g)"),
        *("np.isneginf(g)", "np.isreal(x)", "np.iscomplex(x)", "np.real_if_close(x)", "np.nan_to_num(g)"),
        *("np.nan_to_num(g, nan=1.0, posinf=2.0, neginf=3.0)", "np.clip(x, -1, 1)", "np.clip(x, None, 0.5)"),
        *("np.clip(i, -1, None)", "np.clip(x, min=0)", "np.round(x, 2)", "np.around(x, 1)", "np.round(i, -1)"),
        *("np.unwrap(v * 4)", "np.unwrap(p * 5, axis=1)", "np.signbit(g)", "np.sign(g)", "np.copysign(1.0, g)"),
    ],
    "comparisons": [
        *("np.isclose(x, y)", "np.isclose(n, n, equal_nan=True)", "np.allclose(x, x + 1e-9)", "np.array_equal(x, x)"),
        *("np.array_equal(n, n, equal_nan=True)", "np.array_equiv(x, x[:1])", "np.isin(i, [1, 2, 3])"),
        *("np.isin(i, j, invert=True)", "np.where(x > 0, x, y)", "np.where(b, 1, 0)", "np.any(x > 1)", "np.all(b)"),
        *("np.select([x > 1, x > 0], [x, y], -1.0)", "np.choose(j, [j, j + 1, j * 2])", "np.array_equal(x, v)"),
        *("np.piecewise(x, [x < 0, x >= 1], [lambda t: -t, lambda t: t * t, 0.0])", "np.iscomplexobj(x)"),
    ],
    "sums": [
        *("np.sum(x)", "np.sum(x, axis=0)", "np.sum(x, axis=(0, 1), keepdims=True)", "np.sum(x, dtype=np.float64)"),
        *("np.sum(x, initial=3.0)", "np.sum(x, where=b)", "np.sum(i)", "np.sum(u, axis=1)", "np.sum(b)", "np.prod(x)"),
        *("np.prod(x, axis=1, where=b, initial=2.0)", "np.mean(x)", "np.mean(x, axis=1)", "np.mean(x, where=b)"),
        *("np.mean(i)", "np.var(x, axis=0)", "np.std(x, ddof=1)", "np.std(x, axis=1, correction=1)"),
        *("np.var(x, axis=1, where=b)", "np.average(x)", "np.average(x, axis=1, weights=np.arange(4))"),
        *("np.average(x, weights=y)", "np.median(x)", "np.median(x, axis=0)", "np.median(n, axis=1)", "np.median(i)"),
        *("np.median(p, axis=(0, 2), keepdims=True)", "np.percentile(x, 30)", "np.percentile(x, [10, 50, 90], axis=1)"),
        *(
            "np.quantile(x, 0.25, axis=0)",
            "np.quantile(x, 0.3, method='lower')",
            "np.quantile(x, 0.3, method='higher')",
        ),
        *("np.quantile(x, 0.7, method='nearest')", "np.quantile(x, 0.7, method='midpoint')", "np.count_nonzero(i)"),
        *("np.count_nonzero(x > 0, axis=1)", "np.average(x, axis=0, weights=[1, 2, 3], returned=True)"),
    ],
    "extremes": [
        *("np.max(x)", "np.max(x, axis=1)", "np.min(x, axis=0, keepdims=True)", "np.amax(x)", "np.amin(x, axis=1)"),
        *("np.max(x, initial=1.5)", "np.max(x, axis=0, where=b, initial=-9)", "np.min(n)", "np.ptp(x)", "np.ptp(x, 0)"),
        *(
            "np.argmax(x)",
            "np.argmax(x, axis=1)",
            "np.argmin(i, axis=0)",
            "np.argmax(n)",
            "np.argmin(x, keepdims=True)",
        ),
        *("np.min(i, where=b, initial=100)", "np.max(u)", "np.max(b, axis=0)", "np.argmax(b, axis=1)"),
    ],
    "without nan": [
        *("np.nansum(n)", "np.nansum(n, axis=0)", "np.nanprod(n, axis=1)", "np.nanmax(n, axis=1)", "np.nanmin(n)"),
        *("np.nanmean(n, axis=0)", "np.nanvar(n, axis=1)", "np.nanstd(n, ddof=1)", "np.nanargmax(n, axis=1)"),
        *("np.nanargmin(n)", "np.nanmedian(n, axis=1)", "np.nanmedian(n)", "np.nanpercentile(n, 40, axis=1)"),
        *("np.nanquantile(n, [0.2, 0.8], axis=1)", "np.nancumsum(n, axis=1)", "np.nancumprod(n, axis=0)"),
    ],
    "running": [
        *("np.cumsum(x)", "np.cumsum(x, axis=1)", "np.cumsum(i, axis=0)", "np.cumsum(b)", "np.cumprod(x, axis=1)"),
        *("np.cumsum(x, dtype=np.float64)", "np.cumulative_sum(x, axis=1)", "np.cumulative_prod(v)"),
        *("np.cumulative_sum(x, axis=0, include_initial=True)", "np.maximum.accumulate(x, axis=1)", "np.diff(x)"),
        *(
            "np.minimum.accumulate(v)",
            "np.logaddexp.accumulate(v)",
            "np.add.accumulate(x)",
            "np.multiply.accumulate(i)",
        ),
        *("np.diff(x, n=2, axis=0)", "np.diff(i, prepend=0)", "np.diff(b)", "np.ediff1d(x)", "np.gradient(v)"),
        *("np.ediff1d(v, to_end=9.0, to_begin=[1.0, 2.0])", "np.gradient(x)", "np.gradient(x, 0.5, axis=1)"),
        *("np.gradient(v, np.array([0, 1, 3, 4, 8.0]), edge_order=2)", "np.gradient(v, 2.0, edge_order=2)"),
        *(
            "np.trapezoid(x)",
            "np.trapezoid(x, axis=0)",
            "np.trapezoid(v, np.cumsum(np.abs(w)))",
            "np.trapezoid(x, dx=2)",
        ),
    ],
    "sorts": [
        *(
            "np.sort(x)",
            "np.sort(x, axis=0)",
            "np.sort(x, axis=None)",
            "np.sort(n)",
            "np.sort(g)",
            "np.sort(i, axis=0)",
        ),
        *("np.sort(u)", "np.sort(b)", "np.sort(d)", "np.argsort(x)", "np.argsort(i, axis=0, stable=True)"),
        *("np.argsort(v, kind='stable')", "np.argsort(n, axis=1)", "np.argsort(x, axis=None)", "np.sort(p, axis=1)"),
        *(
            "np.partition(v, 2)[2]",
            "np.take(v, np.argpartition(v, 1)[1])",
            "np.lexsort((w, v))",
            "np.lexsort((i, i[::-1]))",
        ),
        *(
            "np.searchsorted(np.sort(v), w)",
            "np.searchsorted([-1.0, 0, 1], x, side='right')",
            "np.digitize(x, [-1, 0, 1])",
        ),
        *(
            "np.searchsorted(v, w, sorter=np.argsort(v))",
            "np.digitize(x, [1, 0, -1], right=True)",
            "np.sort(x)[:, ::-1]",
        ),
        *("np.histogram(x, bins=5, range=(-2, 2))", "np.histogram(x, bins=[-2, -1, 0, 2])", "np.histogram(v, 4)"),
        *("np.histogram(x, 3, (-2, 2), density=True)", "np.histogram_bin_edges(x, 4)", "np.histogram(v, 2, weights=w)"),
    ],
    "products": [
        *(
            "x @ y.T",
            "np.matmul(s, s)",
            "np.dot(s, s)",
            "np.dot(v, w)",
            "np.dot(3, x)",
            "np.inner(x, y)",
            "np.outer(v, w)",
        ),
        *("np.vdot(x, y)", "np.kron(s, s)", "np.kron(v, s)", "np.cross(s, s[::-1])", "np.tensordot(x, y, 2)"),
        *("np.tensordot(p, x, axes=([1, 2], [0, 1]))", "np.einsum('ij,kj->ik', x, y)", "np.einsum('ii', s)"),
        *("np.einsum('ii->i', s)", "np.einsum('...i->...', p)", "np.einsum('...ij,...kj->...ik', p, p)"),
        *("np.einsum('ij,jk,kl', s, s, s)", "np.einsum(x, [0, 1], y, [2, 1], [0, 2])", "np.einsum('ij->ji', x)"),
        *(
            "np.vecdot(x, y)",
            "np.matvec(s, s[0])",
            "np.vecmat(s[0], s)",
            "np.convolve(v, w)",
            "np.convolve(v, w[:3], 'same')",
        ),
        *("np.convolve(v, w[:2], mode='valid')", "np.correlate(v, w[:3])", "np.correlate(v, w, 'full')"),
        *("np.correlate(v[:2], w, 'same')", "np.trace(s)", "np.trace(p, offset=1, axis1=1, axis2=2)", "np.cov(x)"),
        *(
            "np.cov(v, w)",
            "np.corrcoef(x)",
            "np.cov(x, rowvar=False, ddof=0)",
            "np.polyval(v, w)",
            "np.polyval([1, 2, 3], x)",
        ),
        *("np.polyadd(v, w[:2])", "np.polysub(v, w)", "np.polymul(v, w)", "np.polyder(v)", "np.polyint(v)", "p @ x.T"),
        *(
            "np.interp(x, [-2, 0, 1, 2], [1, 3, 2, 5])",
            "np.interp(x, np.sort(v), w, left=-7.0)",
            "np.multiply.outer(v, w)",
        ),
    ],
    "linear algebra": [
        *("np.linalg.norm(x)", "np.linalg.norm(v, 1)", "np.linalg.norm(x, axis=1)", "np.linalg.norm(v, np.inf)"),
        *("np.linalg.norm(x, 'fro')", "np.linalg.norm(x, 1)", "np.linalg.norm(x, -np.inf)", "np.linalg.norm(v, 0)"),
        *("np.linalg.norm(v, 3)", "np.linalg.norm(p, axis=(1, 2))", "np.linalg.norm(x, axis=0, keepdims=True)"),
        *("np.linalg.vector_norm(p, axis=(0, 1))", "np.linalg.matrix_norm(p)", "np.linalg.matmul(s, s)"),
        *(
            "np.linalg.outer(v, w)",
            "np.linalg.cross(s, s[::-1])",
            "np.linalg.diagonal(p)",
            "np.linalg.trace(p, offset=1)",
        ),
        *("np.linalg.matrix_transpose(p)", "np.linalg.multi_dot([s, s, s])", "np.linalg.matrix_power(s, 5)"),
        *("np.linalg.tensordot(x, y, axes=2)", "np.linalg.vecdot(x, y)", "np.linalg.matrix_power(s, 0)"),
    ],
    "shapes": [
        *(
            "np.reshape(x, (4, 3))",
            "np.reshape(x, (2, -1), order='F')",
            "np.ravel(x)",
            "np.ravel(x, 'F')",
            "x.T",
            "p.mT",
        ),
        *(
            "np.transpose(p, (1, 0, 2))",
            "np.permute_dims(p, (2, 0, 1))",
            "np.swapaxes(p, 0, 2)",
            "np.moveaxis(p, 0, -1)",
        ),
        *("np.rollaxis(p, 2)", "np.rollaxis(p, 0, 3)", "np.expand_dims(x, (0, 3))", "np.squeeze(x[None])"),
        *("np.broadcast_to(v, (2, 5))", "np.broadcast_arrays(x, x[0])", "np.atleast_1d(x.sum())", "np.atleast_2d(v)"),
        *("np.atleast_3d(v)", "np.atleast_3d(x)", "np.flip(x)", "np.flip(p, (0, 2))", "np.fliplr(x)", "np.flipud(x)"),
        *("np.rot90(x)", "np.rot90(x, 2)", "np.rot90(p, 3, axes=(1, 2))", "np.roll(x, 2)", "np.roll(x, 1, axis=0)"),
        *("np.roll(x, (1, 2), (0, 1))", "np.matrix_transpose(p)", "np.shape(x)", "np.ndim(x)", "np.size(x)"),
        *("np.meshgrid(v, w)", "np.meshgrid(v, w, indexing='ij', sparse=True)", "np.unravel_index(j, (2, 2))"),
        *("np.ravel_multi_index((j, j), (3, 3))", "np.size(x, 1)", "np.lib.stride_tricks.sliding_window_view(v, 3)"),
        *("np.lib.stride_tricks.sliding_window_view(x, (2, 2))", "np.resize(v, (2, 4))", "np.resize(x, 5)"),
    ],
    "joins and splits": [
        *(
            "np.concatenate([x, y])",
            "np.concatenate([x, y], axis=1)",
            "np.concatenate([x, y], axis=None)",
            "np.concat([x, i])",
        ),
        *(
            "np.stack([x, y])",
            "np.stack([x, y], axis=-1)",
            "np.vstack([v, w])",
            "np.hstack([v, w])",
            "np.hstack([x, y])",
        ),
        *("np.dstack([x, y])", "np.column_stack([v, w])", "np.block([[x, y], [y, x]])", "np.block([v, w])"),
        *("np.append(x, y)", "np.append(x, y, axis=0)", "np.insert(v, 1, 9.0)", "np.insert(x, [1, 3], 0.0, axis=1)"),
        *("np.insert(v, [0, 0, 5], [1.0, 2.0, 3.0])", "np.delete(v, 1)", "np.delete(x, [0, 2], axis=1)"),
        *("np.delete(x, slice(0, 2), axis=0)", "np.split(x, 2, axis=1)", "np.split(v, [1, 3])", "np.array_split(v, 3)"),
        *("np.hsplit(x, 2)", "np.vsplit(x, 3)", "np.dsplit(p, 2)", "np.unstack(x)", "np.unstack(p, axis=1)"),
        *(
            "np.tile(v, 2)",
            "np.tile(x, (2, 1, 2))",
            "np.repeat(v, 2)",
            "np.repeat(x, 3, axis=1)",
            "np.repeat(v, [0, 1, 2, 0, 1])",
        ),
    ],
    "pads": [
        *(
            "np.pad(x, 1)",
            "np.pad(v, (1, 2), constant_values=7.0)",
            "np.pad(x, ((1, 0), (0, 2)), constant_values=(3, 4))",
        ),
        *("np.pad(x, 2, mode='edge')", "np.pad(x, 2, mode='reflect')", "np.pad(x, 2, mode='symmetric')"),
        *("np.pad(v, 7, mode='wrap')", "np.pad(x, 1, mode='maximum')", "np.pad(x, 1, mode='minimum')"),
        *(
            "np.pad(x, 1, mode='mean')",
            "np.pad(v, 2, mode='linear_ramp', end_values=5.0)",
            "np.pad(v, 1, mode='median')",
        ),
        *("np.pad(x, {1: (1, 2)})", "np.pad(v, 2, mode='maximum', stat_length=2)"),
    ],
    "parts": [
        *(
            "x[1]",
            "x[-1, 2]",
            "x[::2, 1:]",
            "x[::-1]",
            "x[None, ..., 0]",
            "x[[0, 2]]",
            "x[[0, 1], [1, 3]]",
            "x[:, [3, 0]]",
        ),
        *(
            "v[np.array([True, False, True, False, True])]",
            "x[np.array([[0, 1], [2, 0]])]",
            "x[1:1]",
            "x[np.ix_([0, 2], [1, 3])]",
        ),
        *(
            "np.take(x, [0, 2], axis=1)",
            "np.take(x, 3)",
            "np.take(v, j)",
            "np.take(x, j, axis=0)",
            "np.diag(s)",
            "np.diag(v)",
        ),
        *("np.take_along_axis(x, np.argsort(x, 1), 1)", "np.take_along_axis(x, j[None, :], axis=0)", "np.diag(v, -1)"),
        *(
            "np.diag(s, 1)",
            "np.diagflat(s[:2])",
            "np.diagonal(p, 1, 1, 2)",
            "np.tril(x)",
            "np.triu(x, 1)",
            "np.tril(p, -1)",
        ),
        *(
            "np.compress([True, False, True], x, axis=0)",
            "x[np.tril_indices_from(s)]",
            "np.vander(v, 3)",
            "np.take(v, [7], mode='wrap')",
        ),
        *("np.vander(v, increasing=True)", "x[np.diag_indices_from(s)]", "np.apply_along_axis(np.sum, 0, x)"),
        *("np.apply_over_axes(np.sum, p, [0, 2])", "np.apply_along_axis(lambda t: t[:2] * 2, 1, x)"),
    ],
    "like others": [
        *(
            "np.zeros_like(x)",
            "np.ones_like(i)",
            "np.full_like(x, 7)",
            "np.full_like(x, 2.5, dtype=np.int32)",
            "np.copy(x)",
        ),
        *(
            "np.zeros_like(x, shape=(2,))",
            "np.empty_like(x).shape",
            "np.linspace(x[0], x[1], 5)",
            "np.linspace(v.min(), 3, 4)",
        ),
        *("np.logspace(x[0, 0], 1, 3)", "np.geomspace(y[0], y[1], 4)", "np.linspace(v[0], v[1], 3, endpoint=False)"),
        *(
            "np.astype(x, np.int32)",
            "np.result_type(x, i)",
            "np.result_type(x, 3)",
            "np.can_cast(x, np.float64)",
            "np.common_type(x)",
        ),
        *(
            "np.may_share_memory(x, y)",
            "np.packbits(b)",
            "np.packbits(b, axis=1)",
            "np.unpackbits(u, axis=0)",
            "np.isrealobj(x)",
        ),
    ],
    "operators": [
        *(
            "x + 1",
            "1 - x",
            "x * y",
            "2 / y",
            "i // 2",
            "i % 5",
            "y**0.5",
            "2**i.clip(0, 4)",
            "-x",
        ),
        *(
            "+x",
            "abs(x)",
            "~b",
            "b & (x > 0)",
            "b | b",
            "b ^ True",
            "i << 1",
            "i >> 1",
            "x < y",
            "x >= 0.5",
            "i == 3",
            "i != j",
        ),
        *(
            "divmod(i, 4)",
            "x @ v[:4]",
            "x + i",
            "x + b",
            "i + u",
            "u + 1.5",
            "i * 2.5",
            "x + np.float64(1)",
            "d + x",
            "len(x)",
        ),
    ],
    "methods": [
        *(
            "x.sum()",
            "x.sum(0)",
            "x.mean(axis=1)",
            "x.max()",
            "x.min(axis=0, keepdims=True)",
            "x.std(ddof=1)",
            "x.var()",
        ),
        *("x.prod(1)", "b.any()", "b.all(axis=1)", "x.argmax()", "x.argmin(1)", "x.cumsum()", "x.cumsum(axis=1)"),
        *(
            "x.cumprod(0)",
            "x.argsort()",
            "x.clip(0, 1)",
            "x.round(1)",
            "x.dot(y.T)",
            "x.repeat(2, axis=0)",
            "v.take([0, 2])",
        ),
        *(
            "x.reshape(2, 6)",
            "x.reshape((6, 2))",
            "x.reshape(-1)",
            "x.ravel()",
            "x.flatten()",
            "x.flatten('F')",
            "p.transpose(2, 0, 1)",
        ),
        *(
            "p.swapaxes(0, 1)",
            "x[None].squeeze()",
            "s.diagonal()",
            "s.trace()",
            "s.trace(1)",
            "x.astype(np.int32)",
            "x.astype('float64')",
            "x.copy()",
        ),
        *(
            "x.conj()",
            "x.conjugate()",
            "x.real",
            "x.imag",
            "x.ndim",
            "x.size",
            "x.shape",
            "x.nbytes",
            "x.itemsize",
            "x.dtype",
        ),
        *("np.sort(v).searchsorted(w)", "j.choose([j, j + 1, j * 2])", "x.compress([True, False, True], axis=0)"),
        *(
            "x.argpartition(0).shape",
            "x.sum(where=b)",
            "x.max(initial=9)",
            "x.mean(where=b)",
            "x.T.shape",
            "x.astype(bool)",
        ),
    ],
    "methods of ufuncs": [
        *(
            "np.add.reduce(x)",
            "np.add.reduce(x, axis=1)",
            "np.multiply.reduce(x, axis=None)",
            "np.maximum.reduce(x, axis=1)",
        ),
        *(
            "np.minimum.reduce(x)",
            "np.logical_and.reduce(b)",
            "np.logical_or.reduce(b, axis=1)",
            "np.logical_xor.reduce(b)",
        ),
        *(
            "np.bitwise_or.reduce(i)",
            "np.bitwise_and.reduce(i, axis=1)",
            "np.bitwise_xor.reduce(u)",
            "np.logaddexp.reduce(x)",
        ),
        *("np.hypot.reduce(x)", "np.add.outer(v, w)", "np.subtract.outer(v, x)", "np.add.reduce(x, keepdims=True)"),
        *("np.add(x, y, dtype=np.float64)", "np.add.reduce(x, initial=2.0)", "np.add.reduce(x, where=b)"),
    ],
}
"""Expressions of the inputs by what they are about; each is a number, an array, or several of them."""


@pytest.mark.parametrize("group", CALLS)
def test_calls_agree(group):
    """All calls of a group are one program: each result has NumPy's values, type and shape."""
    calls = CALLS[group]
    used = [name for name in INPUTS if any(re.search(rf"\b{name}\b", call) for call in calls)]
    known: dict[str, object] = {}

    def program(*arrays):
        found = {}
        for call in calls:
            for place, each in enumerate(_flat(eval(call, {"np": np, **dict(zip(used, arrays, strict=True))}))):
                (found if isinstance(each, ipu.Tensor) else known)[f"{call}[{place}]"] = each
        return found

    with warnings.catch_warnings(action="ignore"):
        expected = {
            f"{call}[{place}]": each
            for call in calls
            for place, each in enumerate(_flat(eval(call, {"np": np, **INPUTS})))
        }
    arrays = [INPUTS[name] for name in used]
    executable = ipu.compile(ipu.function(program), args=arrays, target=SMALL)
    call = executable._call
    assert call is not None
    for results in (executable(*arrays), call.unflatten(executable.run_per_tile(call.flatten(arrays, {})))):
        assert {*results, *known} == {*expected}
        for name, found in (results | known).items():
            _assert_agrees(name, found, expected[name])


def _flat(value):
    return [leaf for each in value for leaf in _flat(each)] if isinstance(value, list | tuple) else [value]


def _assert_agrees(name, found, expected):
    if not isinstance(expected, np.ndarray | np.generic):
        assert found == expected, name
        return
    expected = np.asarray(expected)
    assert (np.shape(found), np.asarray(found).dtype) == (expected.shape, expected.dtype), name
    tolerance = 0.0 if expected.dtype.kind != "f" else 64 * float(np.finfo(expected.dtype).eps)
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance, err_msg=name)


def test_the_table_is_long_enough():
    assert sum(map(len, CALLS.values())) > 416 and len({call for calls in CALLS.values() for call in calls}) > 416
