"""What to write instead of what tracing does not support, where there is something."""

import re
from collections.abc import Iterable
from difflib import get_close_matches

_OUTSIDE = "compute it outside of the traced function, on arrays"
_DATA_SIZES = "its shape would depend on values; use np.where(mask, x, 0), which keeps the shape"
_IN_PLACE = "nothing is written in place; np.where(mask, value, x) gives the tensor with other elements"
_PRINTED = "the values come when the program runs; return the tensor and print it then"

_INSTEAD: dict[str, tuple[str, ...]] = {
    _DATA_SIZES: (
        *("nonzero", "flatnonzero", "argwhere", "unique", "unique_all", "unique_counts", "unique_inverse"),
        *("unique_values", "extract", "trim_zeros", "union1d", "intersect1d", "setdiff1d", "setxor1d"),
    ),
    _IN_PLACE: (
        *("copyto", "put", "putmask", "place", "fill_diagonal", "put_along_axis", "fill", "itemset", "setfield"),
        "setflags",
    ),
    _PRINTED: ("array2string", "array_repr", "array_str", "save", "savetxt", "savez", "savez_compressed"),
    "x stays as it is; np.sort(x) gives the sorted tensor": ("sort",),
    "x stays as it is; np.partition(x, kth) gives the tensor in that order": ("partition",),
    "x stays as it is; np.resize(x, shape) gives the larger tensor": ("resize",),
    "use ravel(), or an index": ("flat",),
    "its results may be complex for real matrices; use np.linalg.eigh or eigvalsh for symmetric ones": (
        *("linalg.eig", "linalg.eigvals", "roots"),
    ),
    "use np.linalg.lstsq(np.vander(x, n + 1), y)[0]": ("polyfit",),
    "count what is between the edges: np.sum((x >= low) & (x < high))": ("histogram2d", "histogramdd"),
    "use astype, or shift and mask the integers": ("view", "byteswap", "getfield"),
}
_WAYS = {name: way for way, names in _INSTEAD.items() for name in names}


def way_in_place(name: str, is_method: bool = False) -> str | None:
    """Advice about the function ``name`` of NumPy, or the method, if it writes in place.

    >>> way_in_place("sort"), way_in_place("sort", is_method=True)
    (None, 'x stays as it is; np.sort(x) gives the sorted tensor')
    """
    way = _WAYS.get(name, "")
    return way if way is _IN_PLACE or (is_method and way.startswith("x stays as it is")) else None


def way_out(name: str, supported: Iterable[str]) -> str:
    """Advice about ``name``, of NumPy or of an array, that is not supported; ``supported`` is what there is.

    >>> way_out("nonzero", [])
    'its shape would depend on values; use np.where(mask, x, 0), which keeps the shape'
    >>> way_out("fft.fft9", ["fft.fft", "fft.ifft", "prod"])
    'compute it outside of the traced function, on arrays; of a similar name there are fft.fft, fft.ifft'
    """
    if name in _WAYS:
        return _WAYS[name]
    similar = get_close_matches(name, sorted(supported), 5, 0.75)
    return f"{_OUTSIDE}; of a similar name there are {', '.join(similar)}" if similar else _OUTSIDE


def numpy_name(function: object) -> str:
    """The name of a function of NumPy, without ``np.``: ``sort``, ``linalg.norm``."""
    module = re.sub(r"^numpy\.?", "", getattr(function, "__module__", None) or "")
    name = getattr(function, "__name__", str(function))
    return f"{module}.{name}" if module and not module.startswith("_") else name
