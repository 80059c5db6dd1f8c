"""Torchvision where its ops of C++ cannot be loaded: it is imported all the same, and what does not call them runs."""

from typing import Any

import torch

_NEEDED = {
    "nms": "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
    "qnms": "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
}
"""Ops that torchvision describes to PyTorch while it is imported, whether they are there or not."""
_kept: list[Any] = []


def torchvision() -> Any:
    """Torchvision, whose build for another device than PyTorch's lacks its ops."""
    try:
        import torchvision as found
    except RuntimeError:
        library = torch.library.Library("torchvision", "FRAGMENT")
        for name, signature in _NEEDED.items():
            if not hasattr(torch.ops.torchvision, name):
                library.define(name + signature)
        _kept.append(library)  # what it defines goes with it
        import torchvision as found
    return found


def timm() -> Any:
    """The library of image models, which imports torchvision."""
    torchvision()
    import timm as found

    return found
