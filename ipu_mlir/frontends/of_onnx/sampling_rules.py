"""Images of ONNX in other sizes, and at places between their elements."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
from onnx.reference import ReferenceEvaluator

from ipu_mlir.frontends.of_onnx.rules import known, rule, traced_like
from ipu_mlir.frontends.of_onnx.window_rules import text
from ipu_mlir.frontends.support.sampling import corners, elements, sampled, taps, unnormalized

_SAMPLED = ("mode", "nearest_mode", "coordinate_transformation_mode", "cubic_coeff_a", "exclude_outside", "antialias")
_BETWEEN_ENDS = ("align_corners", "tf_crop_and_resize")


@rule("Resize")
def _resize(
    x: Any, roi: Any = None, scales: Any = None, sizes: Any = None, *, axes: Sequence[int] | None = None,
    keep_aspect_ratio_policy: Any = "stretch", extrapolation_value: float | None = 0.0, **settings: Any,
) -> Any:  # fmt: skip
    """Along each dimension a product with the shares of its elements, or a choice of them; they are known."""
    rank = len(x.shape)
    along = [axis % rank for axis in axes] if axes is not None else list(range(rank))
    roi, scales, sizes = (None if each is None else known("Resize", each) for each in (roi, scales, sizes))
    is_first = scales is None and sizes is None
    if is_first:  # of opset 10, whose second input are the scales
        roi, scales, settings = None, roi, {**settings, "coordinate_transformation_mode": "asymmetric"}
    factors, made = _factors([x.shape[axis] for axis in along], scales, sizes, text(keep_aspect_ratio_policy))
    has_sizes = sizes is not None and text(keep_aspect_ratio_policy) == "stretch"
    settings = {name: settings[name] for name in _SAMPLED if settings.get(name) is not None}
    dtype = x.dtype
    outside = np.zeros((1,) * rank, bool)
    for place, axis in enumerate(along):
        if is_first:
            settings["nearest_mode"] = "ceil" if factors[place] < 1 else "floor"
        factor = None if has_sizes else factors[place]
        if text(settings.get("coordinate_transformation_mode", "half_pixel")) in _BETWEEN_ENDS:
            factor = made[place] / x.shape[axis]  # these go by whole sizes
        window = None if roi is None or not roi.size else [roi[place], roi[place + len(along)]]
        shares = _shares(x.shape[axis], made[place], factor, window, settings)
        if shares.shape[0] != shares.shape[1] or (shares != np.eye(len(shares))).any():
            x = _along(x, axis, shares)
        is_out = shares.sum(axis=1) == 0
        outside = outside | is_out.reshape([-1 if each == axis else 1 for each in range(rank)])
    if outside.any():
        x = np.where(np.broadcast_to(outside, x.shape), np.float32(extrapolation_value or 0), x)
    if dtype.kind in "iu" and x.dtype.kind == "f":
        limits = np.iinfo(dtype)
        x = np.clip(np.rint(x), float(limits.min), float(limits.max))
    return x.astype(dtype)


@rule("Upsample")
def _upsample(x: Any, scales: Any = None, *, mode: Any = "nearest", **more: Any) -> Any:
    """As resizing, by factors that are an attribute before opset 9."""
    scales = more.get("scales") if scales is None else scales
    modes = {"coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}
    return _resize(x, None, np.asarray(known("Upsample", scales)), mode=mode, **modes)


def _factors(sizes: Sequence[int], scales: Any, wanted: Any, policy: str) -> tuple[list[float], list[int]]:
    """By dimension, the factor and the size that it makes."""
    if wanted is None:
        factors = [float(each) for each in scales]
        return factors, [int(size * factor) for size, factor in zip(sizes, factors, strict=True)]
    factors = [int(each) / size for each, size in zip(wanted, sizes, strict=True)]
    if policy in ("not_larger", "not_smaller"):
        factor = (min if policy == "not_larger" else max)(factors)
        return [factor] * len(sizes), [math.floor(size * factor + 0.5) for size in sizes]
    return factors, [int(each) for each in wanted]


def _shares(size: int, made: int, factor: float | None, window: Any, settings: dict[str, Any]) -> np.ndarray:
    """The shares of ``size`` rows in each of ``made`` ones, as the definition has them; none of a row outside.

    Args:
        factor: by which places are computed; None for the ratio of the sizes, which may be no number of 32 bits.
    """
    if made == size and factor in (None, 1) and window is None:
        return np.eye(size)
    values = {
        "x": np.eye(size, dtype=np.float32),
        "roi": np.array([0, 1] if window is None else window, np.float32),
        "sizes": np.array([made]) if factor is None else np.zeros(0, np.int64),
        "scales": np.array([] if factor is None else [_scale(size, made, factor)], np.float32),
    }
    inputs = [
        onnx.helper.make_tensor_value_info(name, onnx.helper.np_dtype_to_tensor_dtype(each.dtype), each.shape)
        for name, each in values.items()
    ]
    by = ["", "sizes"] if factor is None else ["scales"]
    node = onnx.helper.make_node("Resize", ["x", "roi", *by], ["y"], axes=[0], **settings)
    result = onnx.helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, None)
    graph = onnx.helper.make_graph([node], "rows", inputs, [result])
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 19)], ir_version=9)
    (found,) = map(np.asarray, ReferenceEvaluator(model).run(None, values))
    if found.shape != (made, size):
        raise TypeError(f"Resize of {size} rows by {factor} to {made}, which is no size that the factor gives")
    return found


def _scale(size: int, made: int, factor: float) -> np.float32:
    scale = np.float32(factor)
    if int(size * float(scale)) == made - 1:  # of 7 / 5 and others, whose nearest number is below them
        scale = np.nextafter(scale, np.float32(np.inf))
    return scale


def _along(x: Any, axis: int, shares: np.ndarray) -> Any:
    """``x`` with rows that are sums of shares of its rows; of one row each where they have one."""
    is_choice = ((shares == 0) | (shares == 1)).all() and (shares.sum(axis=1) == 1).all()
    if is_choice:
        return np.take(x, shares.argmax(axis=1), axis=axis)
    wide = x if x.dtype.kind == "f" and x.dtype.itemsize >= 4 else x.astype(np.float32)
    return np.moveaxis(np.matmul(np.moveaxis(wide, axis, -1), shares.T.astype(wide.dtype)), -1, axis)


@rule("GridSample")
def _grid_sample(
    x: Any, grid: Any, *, mode: Any = "linear", padding_mode: Any = "zeros", align_corners: int | None = 0, **_: Any
) -> Any:
    x, grid = traced_like(x, grid), traced_like(grid, x)
    kind = text(mode).removeprefix("bi")
    around = [
        taps(
            unnormalized(grid[..., len(x.shape) - 3 - axis], size, bool(align_corners)),
            size,
            kind,
            text(padding_mode),
            bool(align_corners),
        )
        for axis, size in enumerate(x.shape[2:])
    ]
    return sampled(x, around).astype(x.dtype)


@rule("RoiAlign")
def _roi_align(
    x: Any, regions: Any, batches: Any, *, output_height: int | None = 1, output_width: int | None = 1,
    sampling_ratio: int | None = 0, spatial_scale: float | None = 1.0, mode: Any = "avg",
    coordinate_transformation_mode: Any = None, **_: Any,
) -> Any:  # fmt: skip
    """The mean, or the largest share, of samples in each cell of a region."""
    if not sampling_ratio:
        raise TypeError("RoiAlign without a sampling_ratio takes as many samples as the regions' sizes say")
    x, regions = traced_like(x, regions, batches), traced_like(regions, x)
    is_half = text(coordinate_transformation_mode or "output_half_pixel") == "half_pixel"
    ends = regions * np.float32(spatial_scale or 1.0) - np.float32(0.5 if is_half else 0)
    cells = output_height or 1, output_width or 1
    grid = (len(regions), *(each * sampling_ratio for each in cells))
    around, is_there = [], np.ones((1, 1, 1), bool)
    for axis, (size, count) in enumerate(zip(x.shape[2:], cells, strict=True)):
        first, last = ends[:, 1 - axis], ends[:, 3 - axis]
        length = last - first if is_half else np.maximum(last - first, 1.0)
        fractions = (np.arange(count * sampling_ratio) + 0.5) / (count * sampling_ratio)
        place = first[:, None] + length[:, None] * fractions.astype(np.float32)
        place = np.reshape(place, [len(regions), *[-1 if each == axis else 1 for each in range(2)]])
        is_there = (place >= -1.0) & (place <= float(size)) & is_there
        place = np.broadcast_to(np.clip(place, 0.0, float(size - 1)), grid)
        around.append(taps(place, size, "linear", "border", True))
    flat = np.reshape(np.take(x, batches, axis=0), (len(regions), x.shape[1], -1))
    parts = []
    for number, chosen in corners(around, x.shape[2:]):
        share = np.where(is_there, math.prod(tap.share for tap in chosen), 0.0)
        parts.append(elements(flat, number) * np.reshape(share, (len(regions), 1, -1)))
    is_mean = text(mode).lower() == "avg"
    total = parts[0]
    for part in parts[1:]:
        total = total + part if is_mean else np.maximum(total, part)
    shape = (len(regions), x.shape[1], cells[0], sampling_ratio, cells[1], sampling_ratio)
    return (np.mean if is_mean else np.max)(np.reshape(total, shape), axis=(3, 5)).astype(x.dtype)


@rule("DeformConv")
def _deformed(
    x: Any, weight: Any, offset: Any, bias: Any = None, mask: Any = None, *, dilations: Any = None,
    group: int | None = 1, offset_group: int | None = 1, pads: Any = None, strides: Any = None, **_: Any,
) -> Any:  # fmt: skip
    """A convolution whose windows read where offsets say, between elements."""
    x, offset = traced_like(x, offset, weight), traced_like(offset, x)
    samples, channels, *sizes = x.shape
    filters, inner, *kernel = weight.shape
    rank, places = len(sizes), math.prod(kernel)
    counts, groups = offset.shape[2:], offset_group or 1
    pads, strides, dilations = list(pads or [0] * 2 * rank), list(strides or [1] * rank), list(dilations or [1] * rank)
    apart = np.reshape(offset, (samples * groups, places, rank, *counts))
    around = []
    for axis, size in enumerate(sizes):
        at_kernel = np.arange(kernel[axis]) * dilations[axis] - pads[axis]
        at_kernel = np.broadcast_to(at_kernel.reshape([-1 if each == axis else 1 for each in range(rank)]), kernel)
        at_count = np.arange(counts[axis]) * strides[axis]
        fixed = at_kernel.reshape([-1, *[1] * rank]) + at_count.reshape(
            [1, *[-1 if each == axis else 1 for each in range(rank)]]
        )
        around.append(taps(apart[:, :, axis] + fixed.astype(np.float32), size, "linear", "zeros", True))
    read = sampled(np.reshape(x, (samples * groups, channels // groups, *sizes)), around)
    if mask is not None:
        read = read * np.reshape(mask, (samples * groups, 1, places, *counts))
    blocks = group or 1
    columns = np.reshape(read, (samples, blocks, channels // blocks * places, -1))
    found = np.matmul(np.reshape(weight, (blocks, filters // blocks, inner * places)), columns)
    found = np.reshape(found, (samples, filters, *counts))
    return found if bias is None else found + np.reshape(bias, (-1, *[1] * rank))


@rule("MaxRoiPool")
def _max_of_regions(
    x: Any, regions: Any, *, pooled_shape: Sequence[int], spatial_scale: float | None = 1.0, **_: Any
) -> Any:
    """The largest element in each cell of a region; 0 where a cell has none. Corners are rounded to elements."""
    x, regions = traced_like(x, regions), traced_like(regions, x)
    found = np.take(x, regions[:, 0].astype(np.int32), axis=0)
    ends = regions[:, 1:] * np.float32(spatial_scale or 1.0)
    ends = np.sign(ends) * np.floor(np.abs(ends) + np.float32(0.5))
    least = np.finfo(x.dtype).min
    for axis, count in ((1, pooled_shape[1]), (0, pooled_shape[0])):  # columns, then rows
        size, first, last = x.shape[2 + axis], ends[:, 1 - axis], ends[:, 3 - axis]
        cell = np.maximum(last - first + 1, 1.0) / np.float32(count)
        number, place = np.arange(count, dtype=np.float32), np.arange(size, dtype=np.float32)
        begin = np.floor(number * cell[:, None]) + first[:, None]
        end = np.ceil((number + 1) * cell[:, None]) + first[:, None]
        inside = (place >= begin[..., None]) & (place < end[..., None])
        over = inside[:, None, None] if axis else inside[:, None, :, :, None]
        parts = found[..., None, :] if axis else found[:, :, None]
        found = np.max(np.where(over, parts, least), axis=-1 if axis else 3)
    return np.where(found == least, np.zeros((), x.dtype), found).astype(x.dtype)
