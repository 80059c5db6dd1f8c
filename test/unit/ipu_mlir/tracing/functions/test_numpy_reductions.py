"""NumPy's reductions, running sums and sorts, as users write them: traced, they agree with NumPy on both executors."""

import pytest

CALLS: dict[str, list[str]] = {
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
        *("np.histogram(np.round(x), 4, (-2, 2))", "np.histogram(x, 200, (-1, 1))", "np.histogram(x / 0, 3, (-1, 1))"),
        *("np.histogram(x, 3, (-2, 2), density=True)", "np.histogram_bin_edges(x, 4)", "np.histogram(v, 2, weights=w)"),
        *("np.bincount(j, minlength=3)", "np.bincount(j, w[:4], 7)", "np.bincount(v > 0, minlength=2)"),
        "np.bincount(np.arange(v.shape[0]) % 2, v)",
    ],
}
"""Expressions of the inputs by what they are about; each is a number, an array, or several of them."""


@pytest.mark.parametrize("group", CALLS)
def test_calls_agree(group, assert_calls_agree):
    assert_calls_agree(CALLS[group])
