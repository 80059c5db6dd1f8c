"""Models of images of ``timm``, on small images and with few classes."""

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
    "mixer_s32_224": {"img_size": 64, "num_blocks": 2},
    "deit_tiny_patch16_224": {"img_size": 32, "patch_size": 8, "depth": 2},
    "poolformer_s12": {"layers": (1, 1, 1, 1), "embed_dims": (8, 16, 24, 32)},
    "convmixer_768_32": {"dim": 24, "depth": 2},
    "nfnet_l0": {},
    "swin_tiny_patch4_window7_224": {
        "img_size": 32, "window_size": 4, "patch_size": 2, "embed_dim": 12, "depths": (2, 2), "num_heads": (2, 3),
    },
    "ghostnet_050": {},
    "vgg11": {},
}  # fmt: skip
"""Settings by the names of models; images have 32 x 32 pixels, unless ``img_size`` says so."""
TRAINED = frozenset(
    (
        *("resnet18", "convnext_atto", "mobilenetv3_small_050", "regnetx_002", "deit_tiny_patch16_224"),
        *("mixer_s32_224", "poolformer_s12", "convmixer_768_32", "densenet121", "swin_tiny_patch4_window7_224"),
    )
)
IN_BATCHES = frozenset(("convmixer_768_32",))
"""Those whose norms use the batch in the step: the others have one row and column in the end, whose variance is 0."""


def _image(side: int, batch: int = 2) -> Any:
    import torch

    return [torch.randn(batch, 3, side, side)]


def _timm(name: str, settings: dict[str, Any]) -> Entry:
    def build() -> Any:
        from models.without_vision_ops import timm

        return timm().create_model(name, num_classes=10, **settings)

    side = settings.get("img_size", 32)
    kinds = ("forward", "step") if name in TRAINED else ("forward",)
    return torch_entry(f"timm {name}", ("timm",), build, lambda: _image(side), kinds=kinds, trains=name in IN_BATCHES)


def entries() -> list[Entry]:
    """All of them, none made yet."""
    return [_timm(name, settings) for name, settings in TIMM.items()]
