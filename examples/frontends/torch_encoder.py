"""A transformer encoder written in PyTorch, as libraries of models have it, with a mask of padding.

python examples/frontends/torch_encoder.py
"""

import torch

import ipu_mlir as ipu


class Encoder(torch.nn.Module):
    """Words and their places, two layers of attention, and a score for the first word."""

    def __init__(self, words: int = 50, length: int = 8, width: int = 16, classes: int = 3) -> None:
        super().__init__()
        self.words = torch.nn.Embedding(words, width)
        self.places = torch.nn.Parameter(torch.randn(length, width) * 0.02)
        layer = torch.nn.TransformerEncoderLayer(width, 2, 2 * width, activation="gelu", batch_first=True)
        self.layers = torch.nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = torch.nn.Linear(width, classes)

    def forward(self, words: torch.Tensor, is_padding: torch.Tensor) -> torch.Tensor:
        """Scores of classes, for words as numbers."""
        hidden = self.words(words) + self.places
        return self.head(self.layers(hidden, src_key_padding_mask=is_padding)[:, 0])


def main() -> None:
    """Compile, run, and compare with PyTorch."""
    torch.manual_seed(0)
    model = Encoder().eval()
    words = torch.randint(0, 50, (2, 8))
    is_padding = torch.arange(8).expand(2, 8) >= torch.tensor([[8], [5]])
    exe = ipu.compile(model, args=[words, is_padding], target=ipu.Target(tiles_per_ipu=16))
    with torch.no_grad():
        found, expected = exe(words, is_padding), model(words, is_padding)
    print(f"scores:\n{found.numpy().round(3)}")
    print("as PyTorch:", torch.allclose(found, expected, atol=1e-5))


if __name__ == "__main__":
    main()
