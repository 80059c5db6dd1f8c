"""Ten steps of training models of other people's libraries, with their own losses, are those of PyTorch.

Steps of networks with batch norms multiply errors of rounding so much that those of PyTorch in float32 say nothing:
these train in float64.
"""

import copy
import importlib.util
from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("ipu_mlir.torch")

_SIZES = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64}
_TEXT = {"vocab_size": 64, "max_position_embeddings": 32}
_UNET = {
    "sample_size": 16, "in_channels": 3, "out_channels": 3, "layers_per_block": 1, "block_out_channels": (16, 32),
    "norm_num_groups": 8, "attention_head_dim": 8, "down_block_types": ("DownBlock2D", "AttnDownBlock2D"),
    "up_block_types": ("AttnUpBlock2D", "UpBlock2D"),
}  # fmt: skip


def _transformer(name: str, config: str, **settings: Any) -> Any:
    from models.without_vision_ops import torchvision

    torchvision()  # transformers imports it
    import transformers

    return getattr(transformers, name)(getattr(transformers, config)(**settings))


def _timm(name: str, **settings: Any) -> Any:
    from models.without_vision_ops import timm

    return timm().create_model(name, num_classes=10, **settings)


def _torchvision(name: str, **settings: Any) -> Any:
    from models.without_vision_ops import torchvision

    return getattr(torchvision().models, name)(num_classes=10, **settings)


def _unet() -> Any:
    import diffusers

    return diffusers.UNet2DModel(**_UNET)


def _tokens() -> tuple[Any, ...]:
    return (torch.randint(0, 64, (2, 12)),)


def _images(pixels: int) -> Callable[[], tuple[Any, ...]]:
    return lambda: (torch.randn(4, 3, pixels, pixels), torch.randint(0, 10, (4,)))


def _noisy() -> tuple[Any, ...]:
    return torch.randn(2, 3, 16, 16), torch.tensor([3, 700]), torch.randn(2, 3, 16, 16)


def _of_tokens(model: Any, tokens: Any) -> Any:
    return model(input_ids=tokens, labels=tokens).loss


def _of_classes(model: Any, x: Any, labels: Any) -> Any:
    return torch.nn.functional.cross_entropy(model(x), labels)


def _of_noise(model: Any, x: Any, time: Any, noise: Any) -> Any:
    return torch.nn.functional.mse_loss(model(x, time).sample, noise)


def _sgd(parameters: Any) -> Any:
    return torch.optim.SGD(parameters, 1e-4, momentum=0.9)


def _adam(parameters: Any) -> Any:
    return torch.optim.AdamW(parameters, 1e-4)


CASES: dict[str, tuple[str, Callable[[], Any], Callable[[], Any], Callable[..., Any], Callable[[Any], Any]]] = {
    "BERT": (
        "transformers",
        lambda: _transformer("BertForMaskedLM", "BertConfig", hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0,
                             **_TEXT, **_SIZES),
        _tokens, _of_tokens, _adam,
    ),
    "GPT-2": (
        "transformers",
        lambda: _transformer("GPT2LMHeadModel", "GPT2Config", vocab_size=64, n_positions=32, n_embd=32, n_layer=2,
                             n_head=2, resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0, bos_token_id=0, eos_token_id=0),
        _tokens, _of_tokens, _adam,
    ),
    "Llama": (
        "transformers",
        lambda: _transformer("LlamaForCausalLM", "LlamaConfig", num_key_value_heads=1, **_TEXT, **_SIZES),
        _tokens, _of_tokens, _adam,
    ),
    "ViT": (
        "timm",
        lambda: _timm("vit_tiny_patch16_224", img_size=32, patch_size=8, depth=2, embed_dim=24, num_heads=2),
        _images(32), _of_classes, _adam,
    ),
    "ConvNeXt": ("timm", lambda: _timm("convnext_atto"), _images(32), _of_classes, _adam),
    "EfficientNet": ("timm", lambda: _timm("efficientnet_lite0"), _images(64), _of_classes, _sgd),
    "ResNet-18": ("torchvision", lambda: _torchvision("resnet18"), _images(64), _of_classes, _sgd),
    "MobileNetV2": (
        "torchvision", lambda: _torchvision("mobilenet_v2", width_mult=0.35, dropout=0.0), _images(64), _of_classes,
        _sgd,
    ),
    "UNet": ("diffusers", _unet, _noisy, _of_noise, _adam),
}  # fmt: skip
"""By name: the package, the model, its batch, its loss and its optimizer."""


def _wide(batch: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(each.double() if each.is_floating_point() else each for each in batch)


def _in_pytorch(model: Any, loss: Callable[..., Any], optimizer: Any, batch: tuple[Any, ...]) -> float:
    optimizer.zero_grad()
    value = loss(model, *batch)
    value.backward()
    optimizer.step()
    return float(value.detach())


WIDE = ("EfficientNet", "MobileNetV2", "ResNet-18")


@pytest.mark.slow
@pytest.mark.parametrize("how", ("training_step", "torch.compile"))
@pytest.mark.parametrize("name", CASES)
def test_losses_of_ten_steps_are_as_near_to_float64_as_those_of_pytorch(name: str, how: str):
    import ipu_mlir.torch

    package, make, draw, loss, optimizer = CASES[name]
    if not importlib.util.find_spec(package):
        pytest.skip(f"{package} is not installed")
    torch.manual_seed(0)
    torch._dynamo.reset()
    ours = make().train()
    plain, wide = copy.deepcopy(ours), copy.deepcopy(ours).double()
    given: Callable[..., Any] = tuple
    if name in WIDE:
        ours, given = ours.double(), _wide
    trained = optimizer(ours.parameters())
    if how == "training_step":
        step = ipu_mlir.torch.training_step(ours, loss, trained)
    else:
        compiled = torch.compile(ours, backend=ipu_mlir.torch.backend)
        step = lambda *batch: _in_pytorch(compiled, loss, trained, batch)  # noqa: E731
    others = optimizer(plain.parameters()), optimizer(wide.parameters())
    for _ in range(10):
        batch = draw()
        found = float(step(*given(batch)))
        near = _in_pytorch(plain, loss, others[0], batch)
        exact = _in_pytorch(wide, loss, others[1], _wide(batch))
        bound = 1e-5 * abs(exact) if name in WIDE else 4 * abs(near - exact) + 1e-5 * abs(exact)
        assert abs(found - exact) <= bound
