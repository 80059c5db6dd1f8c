"""Ops of ``ai.onnx.ml`` on categories: numbers, or text in a table that the places of its elements are known of."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from ipu_mlir.frontends.of_onnx.results import Maps, Texts
from ipu_mlir.frontends.of_onnx.rules import rule
from ipu_mlir.frontends.of_onnx.window_rules import text

_DOMAIN = "ai.onnx.ml"


def labels_of(given: Mapping[str, Any]) -> np.ndarray:
    """The classes that a classifier has: integers, or text."""
    numbers = given.get("classlabels_int64s") or given.get("classlabels_ints")
    if numbers:
        return np.array(numbers, np.int64)
    return texts_of(given["classlabels_strings"])


def texts_of(given: Iterable[Any]) -> np.ndarray:
    """Text of attributes as an array of objects, as ONNX Runtime has it."""
    return np.array([text(each) for each in given], object)


def picked(table: np.ndarray, places: Any) -> Any:
    """The elements of ``table``, numbers or text, at traced places."""
    if table.dtype.kind in "OUS":
        return Texts(places, table.astype(object))
    return np.take(places.program.constant(table), places)


def _found(x: Any, keys: np.ndarray) -> Any:
    """For each element of ``x`` and each key, if they are equal; NaN is equal to NaN."""
    wide, keys = x[..., None], keys.astype(x.dtype)
    return (wide == keys) | (np.isnan(wide) & np.isnan(keys)) if x.dtype.kind == "f" else wide == keys


@rule("ZipMap", domain=_DOMAIN, alone=True)
def _zip_map(scores: Any, *, classlabels_int64s: Any = None, classlabels_strings: Any = None, **_: Any) -> Any:
    keys = classlabels_int64s or [text(each) for each in classlabels_strings]
    return Maps(scores, tuple(keys))


@rule("OneHotEncoder", domain=_DOMAIN)
def _one_hot(x: Any, *, cats_int64s: Any = None, cats_strings: Any = None, **_: Any) -> Any:
    """No 1 for what is none of the categories."""
    if isinstance(x, Texts):
        rows = x.table[:, None] == texts_of(cats_strings)
        return np.take(x.places.program.constant(rows.astype(np.float32)), x.places, axis=0)
    return _found(x, np.array(cats_int64s, np.int64)).astype(np.float32)


_FORMS = ("floats", "int64s", "strings", "tensor")
_DEFAULTS = {"floats": "default_float", "int64s": "default_int64", "strings": "default_string"}


@rule("LabelEncoder", domain=_DOMAIN)
def _encode_labels(x: Any, **given: Any) -> Any:
    """The value of each element's key, or the default."""
    keys = next(np.asarray(each) for form in _FORMS if len(each := _list(given.get(f"keys_{form}"))))
    form, values = next((form, each) for form in _FORMS if len(each := _list(given.get(f"values_{form}"))))
    rest = np.reshape(given["default_tensor"], (-1,))[0] if form == "tensor" else given.get(_DEFAULTS[form])
    if form == "strings":
        return _mapped(x, texts_of(keys) if isinstance(x, Texts) else keys, texts_of([*values, rest or ""]))
    kinds = {"floats": np.float32, "int64s": np.int64, "tensor": getattr(values, "dtype", None)}
    return _mapped(x, texts_of(keys) if isinstance(x, Texts) else keys, np.array([*values, rest], kinds[form]))


@rule("CategoryMapper", domain=_DOMAIN, alone=True)
def _map_categories(
    x: Any, *, cats_int64s: Any, cats_strings: Any, default_int64: int | None = -1, default_string: Any = "_Unused",
    **_: Any,
) -> Any:  # fmt: skip
    if isinstance(x, Texts):
        rest = -1 if default_int64 is None else default_int64
        return _mapped(x, texts_of(cats_strings), np.array([*cats_int64s, rest], np.int64))
    return _mapped(x, np.array(cats_int64s), texts_of([*cats_strings, default_string]))


def _list(given: Any) -> Any:
    return () if given is None else given


def _mapped(x: Any, keys: np.ndarray, values: np.ndarray) -> Any:
    """The element of ``values`` at the place of each element among ``keys``, or the last one."""
    if isinstance(x, Texts):
        places = {key: place for place, key in reversed(list(enumerate(keys.tolist())))}
        return picked(values[[places.get(each, len(keys)) for each in x.table.tolist()]], x.places)
    equal = _found(x, keys)
    return picked(values, np.where(np.any(equal, -1), np.argmax(equal, -1), len(keys)))
