"""What torchvision does with boxes of which there are as many as values say, without asking how many."""

import sys
from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any
from unittest.mock import patch

import torch
from torch import Tensor

from ipu_mlir.frontends.aten.custom_ops import kept_boxes
from ipu_mlir.frontends.of_torch.selected import Selected


def trace_detection(settings: ExitStack) -> None:
    """Let torchvision, if a program has it, select boxes by ops of ours."""
    if "torchvision.models.detection" in sys.modules:
        from torchvision.models.detection import _utils, ssd

        settings.enter_context(patch.object(ssd.SSD, "postprocess_detections", _best_of_classes))
        settings.enter_context(patch.object(_utils, "_topk_min", _count_of_topk))
        settings.enter_context(patch.object(_utils.BoxCoder, "decode", _decode))
    if "torchvision.ops" in sys.modules:
        from torchvision.ops import boxes, poolers

        for name, function in (("nms", nms), ("batched_nms", batched_nms)):
            theirs = getattr(boxes, name)
            for module in [each for each in list(sys.modules.values()) if getattr(each, name, None) is theirs]:
                settings.enter_context(patch.object(module, name, function))
        settings.enter_context(patch.object(poolers, "_multiscale_roi_align", _aligned_at_levels))


def nms(boxes: Any, scores: Any, iou_threshold: float) -> Selected:
    """The places of the boxes that are kept, the best first, as ``torchvision.ops.nms`` gives them."""
    return batched_nms(boxes, scores, None, iou_threshold)


def batched_nms(boxes: Any, scores: Any, idxs: Any, iou_threshold: float) -> Selected:
    """The same within groups: boxes of other ``idxs`` do not count."""
    parts = [
        each.packed() if isinstance(each, Selected) else Selected(each, torch.ones(len(each)) > 0, is_packed=True)
        for each in (boxes, scores, *([] if idxs is None else [idxs]))
    ]
    is_there, keys = parts[0].mask, parts[1].where(-torch.inf)
    _, order = torch.sort(keys, stable=True, descending=True)
    groups = parts[2].rows if idxs is not None else torch.zeros(len(order), dtype=torch.int64)
    kept: Any = kept_boxes(parts[0].rows[order], groups[order], is_there[order], iou_threshold)
    return Selected.of(order, kept)


def _count_of_topk(input: Any, orig_kval: int, axis: int) -> int:
    return min(orig_kval, len(input.mask) if isinstance(input, Selected) else input.size(axis))


def _best_of_classes(model: Any, head_outputs: Any, image_anchors: Any, image_shapes: Any) -> list[dict[str, Any]]:
    """The boxes that SSD finds; its candidates of all classes are taken at once, which torchvision does one by one."""
    from torchvision.ops import boxes as of_boxes

    every, found = head_outputs["cls_logits"].softmax(-1), []
    for codes, scores, anchors, shape in zip(
        head_outputs["bbox_regression"], every, image_anchors, image_shapes, strict=True
    ):
        boxes = of_boxes.clip_boxes_to_image(model.box_coder.decode_single(codes, anchors), shape)
        scores = scores[:, 1:].T
        sure = torch.where(scores > model.score_thresh, scores, -torch.inf)
        best, places = sure.topk(min(model.topk_candidates, sure.shape[1]))
        labels = torch.arange(1, len(sure) + 1)[:, None].expand_as(places)
        mask = (best > model.score_thresh).reshape(-1)
        columns = boxes[places].reshape(-1, 4), best.reshape(-1), labels.reshape(-1)
        boxes, scores, labels = (Selected.of(each, mask).packed() for each in columns)
        kept = batched_nms(boxes, scores, labels, model.nms_thresh)[: model.detections_per_img]
        found.append({"boxes": boxes[kept], "scores": scores[kept], "labels": labels[kept]})
    return found


def _decode(coder: Any, rel_codes: Any, boxes: Sequence[Any]) -> Any:
    found = coder.decode_single(rel_codes, torch.cat(list(boxes)))
    if isinstance(found, Selected):
        return found.like(found.rows.unflatten(1, (-1, 4)))
    return found.unflatten(1, (-1, 4))


def _aligned_at_levels(
    features: Sequence[Tensor], boxes: Sequence[Any], output_size: Any, sampling_ratio: int, scales: Any, mapper: Any
) -> Any:
    """Regions of the level that each box belongs to, of which all are computed of every level."""
    from torchvision.ops import poolers

    regions = poolers._convert_to_roi_format(list(boxes))
    rows = regions.rows if isinstance(regions, Selected) else regions
    found = [
        poolers.roi_align(each, rows, output_size=output_size, spatial_scale=scale, sampling_ratio=sampling_ratio)
        for each, scale in zip(features, scales, strict=True)
    ]
    result = found[0]
    if len(found) > 1:
        levels = mapper(list(boxes))
        levels = levels.rows if isinstance(levels, Selected) else levels
        for place, each in enumerate(found[1:], 1):
            result = torch.where((levels == place)[:, None, None, None], each, result)
    return regions.like(result) if isinstance(regions, Selected) else result
