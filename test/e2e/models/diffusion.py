"""Networks of ``diffusers``: the U-Nets that remove noise, and the autoencoder around them."""

from typing import Any

from models.entry import Entry
from models.torch_programs import torch_entry


def _entry(name: str, model: str, settings: dict[str, Any], inputs: Any, **rest: Any) -> Entry:
    def build() -> Any:
        from models.without_vision_ops import torchvision

        torchvision()
        import diffusers

        return getattr(diffusers, model)(**settings)

    return torch_entry(f"diffusers {name}", ("diffusers",), build, inputs, **rest)


def _noisy(side: int = 16) -> dict[str, Any]:
    import torch

    return {"sample": torch.randn(1, 3, side, side), "timestep": torch.tensor(7), "return_dict": False}


def _with_text() -> dict[str, Any]:
    import torch

    sample = {"sample": torch.randn(1, 4, 16, 16), "timestep": torch.tensor(7)}
    return {**sample, "encoder_hidden_states": torch.randn(1, 5, 16), "return_dict": False}


def _picture() -> dict[str, Any]:
    import torch

    return {"sample": torch.randn(1, 3, 32, 32), "return_dict": False}


def entries() -> list[Entry]:
    """All of them, none made yet."""
    return [
        _entry("UNet2D", "UNet2DModel", _UNET, _noisy),
        _entry("UNet2DCondition", "UNet2DConditionModel", _CONDITION, _with_text),
        _entry("AutoencoderKL", "AutoencoderKL", _VAE, _picture),
    ]


_UNET = {
    "sample_size": 16, "block_out_channels": (8, 16), "norm_num_groups": 4, "layers_per_block": 1,
    "down_block_types": ("DownBlock2D", "AttnDownBlock2D"), "up_block_types": ("AttnUpBlock2D", "UpBlock2D"),
    "attention_head_dim": 4,
}  # fmt: skip
_CONDITION = {
    "sample_size": 16, "block_out_channels": (8, 16), "norm_num_groups": 4, "layers_per_block": 1,
    "down_block_types": ("CrossAttnDownBlock2D", "DownBlock2D"), "up_block_types": ("UpBlock2D", "CrossAttnUpBlock2D"),
    "cross_attention_dim": 16, "attention_head_dim": 2,
}  # fmt: skip
_VAE = {
    "block_out_channels": (8, 16), "norm_num_groups": 4, "latent_channels": 4, "sample_size": 32,
    "down_block_types": ("DownEncoderBlock2D",) * 2, "up_block_types": ("UpDecoderBlock2D",) * 2,
}  # fmt: skip
