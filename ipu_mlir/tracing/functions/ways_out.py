"""What to write instead of what tracing does not support, where there is something."""

import re
from collections.abc import Iterable

_OUTSIDE = "compute it outside of the traced function, on arrays"
_DATA_SIZES = "its shape would depend on values; use np.where(mask, x, 0), which keeps the shape"
_SORTS = "nothing is sorted while tracing; " + _OUTSIDE
_NAN = "replace NaN by what does not count: np.where(np.isnan(x), 0, x)"
_JOIN = "use np.concatenate or np.stack"
_MASKS = "use np.where with a comparison"
_FLIP = "use np.flip and np.swapaxes"
_RESHAPE = "use x.reshape(...), or x[None]"

_INSTEAD: dict[str, tuple[str, ...]] = {
    "use np.tril(np.ones((n, n), x.dtype)) @ x for running sums of n elements": ("cumsum", "cumulative_sum"),
    "write it as x[1:] - x[:-1]": ("diff", "ediff1d", "gradient"),
    "write it as np.sum(x * w) / np.sum(w)": ("average",),
    "write it as np.max(x) - np.min(x)": ("ptp",),
    "write it as np.sum(x != 0)": ("count_nonzero",),
    "write it as np.sum(x * y), with axis= where there are several": ("vdot", "vecdot", "linalg.vecdot"),
    "use @": ("matvec", "vecmat", "linalg.matmul", "linalg.multi_dot"),
    "write it as np.sqrt(np.sum(x * x))": ("linalg.norm", "linalg.vector_norm", "linalg.matrix_norm"),
    "use x[np.arange(n), np.arange(n)]": ("diagonal", "diag", "trace", "linalg.diagonal", "linalg.trace"),
    "use x[:, None] and y[None, :]": ("meshgrid", "ix_", "kron"),
    "use an index: x[[0, 0, 1, 1]]": ("repeat", "tile", "resize"),
    "use np.broadcast_to": ("broadcast_arrays",),
    "use slices: x[:n], x[n:]": ("array_split", "hsplit", "vsplit", "dsplit", "unstack"),
    "compare with a tolerance: np.all(np.abs(x - y) <= 1e-6)": ("allclose", "isclose", "array_equal", "array_equiv"),
    "nothing is written in place; x itself stays as it is": ("copy", "empty_like"),
    _JOIN: ("vstack", "hstack", "dstack", "column_stack", "block", "append", "insert", "delete"),
    _MASKS: ("choose", "select", "piecewise", "heaviside", "isin", "fill", "putmask", "place", "copyto", "put"),
    _FLIP: ("fliplr", "flipud", "rot90", "rollaxis"),
    _RESHAPE: ("atleast_1d", "atleast_2d", "atleast_3d"),
    _NAN: ("nansum", "nanprod", "nanmax", "nanmin", "nanmean", "nanstd", "nanvar", "nanargmax", "nanargmin"),
    _DATA_SIZES: ("nonzero", "flatnonzero", "argwhere", "unique", "compress", "extract", "trim_zeros", "union1d"),
    _SORTS: (
        *("sort", "argsort", "partition", "argpartition", "lexsort", "median", "percentile", "quantile"),
        *("searchsorted", "digitize", "histogram", "nanmedian", "sort_complex"),
    ),
}
_WAYS = {name: way for way, names in _INSTEAD.items() for name in names}


def way_out(name: str, supported: Iterable[str]) -> str:
    """What to do about ``name``, of NumPy or of an array, that is not supported; ``supported`` is what there is.

    >>> way_out("ptp", [])
    'write it as np.max(x) - np.min(x)'
    >>> way_out("fft.fft", ["sum", "prod"])
    'compute it outside of the traced function, on arrays, or write it with what is supported: prod, sum'
    """
    known = _WAYS.get(name)
    return known or f"{_OUTSIDE}, or write it with what is supported: {', '.join(sorted(supported))}"


def numpy_name(function: object) -> str:
    """How users call a function of NumPy, without ``np.``: ``sort``, ``linalg.norm``."""
    module = re.sub(r"^numpy\.?", "", getattr(function, "__module__", None) or "")
    name = getattr(function, "__name__", str(function))
    return f"{module}.{name}" if module and not module.startswith("_") else name
