"""Models of images of ``timm``, on small images and with few classes."""

from functools import partial
from typing import Any

from models.entry import Entry
from models.torch_programs import torch_entry

TIMM = {
    "convnext_atto": {},
    "resnet18": {},
    "resnet26d": {},
    "mobilenetv3_small_050": {},
    "efficientnet_lite0": {},
    "densenet121": {"growth_rate": 4, "block_config": (2, 2, 2)},
    "regnetx_002": {},
    "nf_regnet_b0": {},
    "MlpMixer": {"img_size": 32, "patch_size": 8, "num_blocks": 2, "embed_dim": 24},
    "deit_tiny_patch16_224": {"img_size": 32, "patch_size": 8, "depth": 2, "embed_dim": 24},
    "MetaFormer": {"depths": (1, 1, 1, 1), "dims": (8, 16, 24, 32)},
    "ConvMixer": {"dim": 24, "depth": 2, "patch_size": 4},
    "swin_tiny_patch4_window7_224": {
        "img_size": 32, "window_size": 4, "patch_size": 2, "embed_dim": 12, "depths": (2, 2), "num_heads": (2, 3),
    },
    "ghostnet_050": {},
}  # fmt: skip
"""Settings by the names of models, or of classes; images have 32 x 32 pixels."""
TRAINED = frozenset(
    (
        *("resnet18", "convnext_atto", "mobilenetv3_small_050", "regnetx_002", "deit_tiny_patch16_224", "MlpMixer"),
        *("MetaFormer", "ConvMixer", "densenet121", "swin_tiny_patch4_window7_224"),
    )
)
IN_BATCHES = frozenset(("ConvMixer",))
"""Those whose norms use the batch in the step: the others have one row and column in the end, whose variance is 0."""


def _image() -> Any:
    import torch

    return [torch.randn(2, 3, 32, 32)]


def _timm(name: str, settings: dict[str, Any]) -> Entry:
    def build() -> Any:
        from models.without_vision_ops import timm

        make = getattr(timm().models, name) if name[0].isupper() else partial(timm().create_model, name)
        return make(num_classes=10, **settings)

    kinds = ("forward", "step") if name in TRAINED else ("forward",)
    return torch_entry(f"timm {name}", ("timm",), build, _image, kinds=kinds, trains=name in IN_BATCHES)


def entries() -> list[Entry]:
    """All of them, none made yet."""
    return [_timm(name, settings) for name, settings in TIMM.items()]
