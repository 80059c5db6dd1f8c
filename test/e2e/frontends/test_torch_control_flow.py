"""Loops and branches of PyTorch, whose bodies are graphs of their own."""

import importlib.util

import pytest

import ipu_mlir as ipu

torch = pytest.importorskip("torch")
from torch import nn  # noqa: E402
from torch._higher_order_ops import cond, scan, while_loop  # noqa: E402
from torch._higher_order_ops.map import map as map_each  # noqa: E402

TARGET = ipu.Target(tiles_per_ipu=4)
LAYER = nn.Linear(4, 4)


def _zero() -> torch.Tensor:
    return torch.zeros((), dtype=torch.int64)


def _loop_with_weights(x):
    return while_loop(lambda n, y: n < 3, lambda n, y: (n + 1, LAYER(y).tanh()), (_zero(), x.clone()))


def _loop_as_long_as_values_say(x):
    return while_loop(lambda y, n: y.square().sum() < 50, lambda y, n: (y * 2, n + 1), (x.clone(), _zero()))


def _loop_that_writes(x):
    def body(n, y):
        y = y.clone()
        y.index_copy_(0, n[None], x[:1] * torch.tensor([1.0, 2.0, 3.0, 4.0]))
        return n + 1, y

    return while_loop(lambda n, y: n < 2, body, (_zero(), x.clone()))


def _loop_in_a_loop(x):
    def body(n, y):
        inner = while_loop(lambda m, y: m < n, lambda m, y: (m + 1, y * 1.5), (_zero(), y.clone()))
        return n + 1, inner[1] - 1

    return while_loop(lambda n, y: n < 3, body, (_zero(), x.clone()))


def _branch(x):
    return cond(x.sum() > 0, lambda x: x.cos(), lambda x: nn.functional.gelu(LAYER(x)), (x,))


def _scan_backward(x):
    return scan(lambda carry, row: (carry + row, carry * row), torch.zeros(4), x, dim=1, reverse=True)


def _map(x):
    return map_each(lambda row, more: row.tanh() + more, x, torch.ones(4))


class _Module(nn.Module):
    def __init__(self, function):
        super().__init__()
        self.layer, self._function = LAYER, function

    def forward(self, x):
        return self._function(x)


QUICK = (_loop_that_writes,)
LONG = (_branch, _loop_with_weights, _loop_as_long_as_values_say, _loop_in_a_loop, _scan_backward, _map)
"""PyTorch compiles each body to run it."""


@pytest.mark.parametrize("function", [*QUICK, *(pytest.param(each, marks=pytest.mark.slow) for each in LONG)])
def test_bodies_are_those_of_pytorch(function):
    numbers = torch.randn(4, 4, generator=torch.Generator().manual_seed(1))
    with torch.no_grad():
        compiled = ipu.compile(function, args=[numbers], target=TARGET)
        for x in (numbers, numbers.abs(), -numbers.abs()):
            torch.testing.assert_close(compiled(x), function(x), rtol=1e-5, atol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("function", (_loop_with_weights, _branch))
def test_modules_have_bodies(function):
    x = torch.randn(4, 4, generator=torch.Generator().manual_seed(1))
    compiled = ipu.compile(_Module(function), args=[x], target=TARGET)
    with torch.no_grad():
        torch.testing.assert_close(compiled(x), function(x), rtol=1e-5, atol=1e-5)


def test_a_loop_over_a_number_of_python_is_refused():
    class Counts(nn.Module):
        def forward(self, x):
            return while_loop(lambda n, y: n < 5, lambda n, y: (n + 1, y + 1), (0, x))

    with pytest.raises(ipu.CompileError, match=r"cannot be imported: .*while_loop; let bodies carry tensors"):
        ipu.compile(Counts(), args=[torch.ones(3)], target=TARGET)


def _generating(model, rounds: int, length: int):
    """Greedy tokens, in a loop on the device, with the keys and values of a static cache as what it carries."""
    import transformers

    def cache_of(states, filled):
        cache = transformers.StaticCache(config=model.config, max_cache_len=length)
        for layer, keys, values in zip(cache.layers, states[::2], states[1::2], strict=True):
            layer.lazy_initialization(keys[:, :, :1], values[:, :, :1])
            layer.keys, layer.values, layer.cumulative_length = keys.clone(), values.clone(), filled.clone()
        return cache

    def states_of(cache):
        return [each for layer in cache.layers for each in (layer.keys, layer.values)]

    @torch.no_grad()
    def generate(ids):
        prompt = ids.shape[1]
        cache = transformers.StaticCache(config=model.config, max_cache_len=length)
        first = model(input_ids=ids, past_key_values=cache, use_cache=True).logits[:, -1].argmax(-1)
        tokens = nn.functional.pad(first[:, None], (0, rounds - 1))

        def body(n, tokens, *states):
            cache = cache_of(states, n - 1 + prompt)
            last = tokens.index_select(1, (n - 1)[None])
            places = (n - 1 + prompt)[None]
            given = {"past_key_values": cache, "position_ids": places[None], "use_cache": True}
            chosen = model(input_ids=last, **given).logits[:, -1].argmax(-1)
            return n + 1, tokens.index_copy(1, n[None], chosen[:, None]), *states_of(cache)

        begin = (torch.ones((), dtype=torch.int64), tokens, *states_of(cache))
        return torch.cat([ids, while_loop(lambda n, *_: n < rounds, body, begin)[1]], 1)

    return generate


@pytest.mark.slow
@pytest.mark.parametrize("name", ("Llama", "GPT2"))
def test_tokens_are_generated_in_a_loop_on_the_device(name):
    if not importlib.util.find_spec("transformers"):
        pytest.skip("transformers is not installed")
    from models.without_vision_ops import torchvision

    torchvision()  # transformers imports it
    import transformers

    small = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "attn_implementation": "eager"}
    config = getattr(transformers, f"{name}Config")(vocab_size=99, **small)
    head = {"Llama": "LlamaForCausalLM", "GPT2": "GPT2LMHeadModel"}[name]
    torch.manual_seed(0)
    model = getattr(transformers, head)(config).eval()
    ids = torch.randint(3, 99, (2, 5))
    expected = model.generate(ids, max_new_tokens=8, do_sample=False, eos_token_id=None, pad_token_id=0)
    compiled = ipu.compile(_generating(model, rounds=8, length=16), args=[ids])
    assert "scf.while" in compiled.mlir("l0")
    assert torch.equal(compiled(ids), expected)
