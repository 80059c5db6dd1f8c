"""Lines in PyTorch's names."""

from collections.abc import Callable
from typing import Any

import torch
from support.written.draw import Family, Writer, kind_of, size_of
from torch.nn import functional as F


def changed(x: torch.Tensor, change: Callable[[torch.Tensor], Any]) -> torch.Tensor:
    """A copy of ``x`` that ``change`` has written to."""
    x = x.clone()
    change(x)
    return x


NAMES: dict[str, Any] = {"torch": torch, "F": F, "changed": changed}
_OF_FLOATS = (
    "torch.sin({0})", "torch.tanh({0})", "{0}.abs()", "-{0}", "{0}.square()", "F.relu({0})", "torch.sigmoid({0})",
    "F.gelu({0})", "F.silu({0})", "F.elu({0})", "F.softplus({0})", "F.hardtanh({0})", "F.leaky_relu({0}, 0.1)",
    "{0}.floor()", "{0}.abs().sqrt()", "{0}.abs().log1p()", "{0}.sign()", "{0}.round()", "{0}.int()",
    "{0}.clamp(-1, 2)", "torch.erf({0})", "{0}.frac()", "{0} > 0.1", "torch.nan_to_num({0})",
    "{0}.masked_fill({0} > 1, 0.5)", "F.hardswish({0})", "F.mish({0})", "F.logsigmoid({0})",
    "torch.rsqrt({0}.abs() + 1)", "torch.remainder({0}, 1.3)", "torch.expm1({0}.clamp(max=2))",
    "torch.lerp({0}, {0} * 2, 0.3)", "torch.addcmul({0}, {0}, {0}, value=0.5)", "F.threshold({0}, 0.2, 0.0)",
    "F.tanhshrink({0})", "F.mse_loss({0}, {0}*2)", "F.smooth_l1_loss({0}, {0}*{0})",
    "F.binary_cross_entropy_with_logits({0}, torch.sigmoid({0}*2))",
)  # fmt: skip
_OF_INTEGERS = (
    "{0}*3+1", "{0}//3", "{0}%5", "{0}&7", "{0}^5", "{0}>>1", "{0}.float()", "{0} > 2", "~{0}", "{0}.abs()", "-{0}",
    "torch.clamp({0}, -2, 5)", "torch.div({0}, 3, rounding_mode='trunc')", "{0}.bool()", "{0}.long()", "{0}/4",
    "torch.gcd({0}, torch.full_like({0}, 12))", "F.one_hot(({0}.abs() % 6).long().flatten()[:9], 6)",
)  # fmt: skip
_OF_BOOLS = ("~{0}", "{0}.int()", "{0}.float()", "{0}.sum()", "{0}.any()", "torch.logical_xor({0}, {0})")
_PAIRS = {
    "ff": (
        "{0}+{1}", "{0}-{1}", "{0}*{1}", "torch.maximum({0}, {1})", "torch.minimum({0}, {1})", "{0}<{1}",
        "{0}/({1}.abs()+1)", "torch.atan2({0}, {1}.abs()+1)", "torch.hypot({0}, {1}+3)",
        "torch.where({0} > {1}, {0}, {1}*0.5)", "torch.logaddexp({0}, {1})", "torch.add({0}, {1}, alpha=0.5)",
    ),
    "ii": (
        "{0}+{1}", "{0}-{1}", "{0}*{1}", "torch.maximum({0}, {1})", "{0}<{1}", "{0}=={1}", "{0}//({1}.abs()%7+1)",
        "{0}%({1}.abs()%7+1)",
    ),
    "bb": ("{0} & {1}", "{0} | {1}", "{0} ^ {1}"),
}  # fmt: skip


def functions(writer: Writer) -> str:
    name, value = writer.of_kind("fib")
    table = {"f": _OF_FLOATS, "i": _OF_INTEGERS, "b": _OF_BOOLS}[kind_of(value)]
    return writer.rng.choice(table).format(name)


def pairs(writer: Writer) -> str:
    one, left = writer.of_kind("fib")
    other, right = writer.beside(left)
    kinds = kind_of(left) + kind_of(right)
    if "b" in kinds and kinds != "bb":
        mask, number = (one, other) if kinds[0] == "b" else (other, one)
        return f"torch.where({mask}, {number}, 0)"
    return writer.rng.choice(_PAIRS.get(kinds, ("{0}+{1}", "{0}*{1}", "{0}<{1}"))).format(one, other)


def reductions(writer: Writer) -> str:
    name, value = writer.of_kind("fib", 1)
    axes, axis, kept = writer.axes(value), writer.axis(value), ", keepdim=True" if writer.rng.random() < 0.3 else ""
    forms = {
        "f": (
            f"{name}.sum({axes}{kept})", f"{name}.mean({axes}{kept})", f"{name}.amax({axes}{kept})",
            f"{name}.amin({axes}{kept})", f"{name}.max({axis}{kept})[0]", f"{name}.min({axis}{kept}).indices",
            f"{name}.var({axes}, unbiased=False{kept})", f"torch.logsumexp({name}, {axes}{kept})",
            f"{name}.norm(dim={axis}{kept})", f"{name}.median({axis}{kept})[0]", f"{name}.max()",
            f"torch.std_mean({name}, {axis}, unbiased=False)[1]", f"{name}.argmax({axis}{kept})",
            f"torch.count_nonzero({name}, {axis})", f"F.softmax({name}, {axis})", f"F.log_softmax({name}, {axis})",
            f"F.normalize({name} + 0.5, dim={axis})", f"F.cosine_similarity({name}, {name}+1, dim={axis})",
            f"F.layer_norm({name}, {tuple(value.shape[axis:])})", f"F.glu({name}, {axis})",
        ),
        "i": (f"{name}.sum({axes}{kept})", f"{name}.amax({axes}{kept})", f"{name}.max()", f"{name}.max({axis})[0]"),
        "b": (f"{name}.any({axis}{kept})", f"{name}.all({axis}{kept})", f"{name}.sum({axes}{kept})"),
    }  # fmt: skip
    return writer.rng.choice(forms[kind_of(value)])


def orders(writer: Writer) -> str:
    name, value = writer.of_kind("fi", 1)
    axis = writer.axis(value)
    forms = (
        f"{name}.cumsum({axis})", f"torch.cummax({name}, {axis})[0]", f"{name}.sort({axis})[0]",
        f"{name}.argsort({axis}, stable=True)", f"{name}.sort({axis}, descending=True)[0]",
        f"{name}.topk({writer.rng.randint(1, 7)})[0]", f"torch.diff({name}, dim={axis})",
        f"torch.kthvalue({name}, 1, {axis})[0]", f"torch.gather({name}, {axis}, {name}.argsort({axis}, stable=True))",
        f"torch.zeros_like({name}).scatter_add(0, {name}.argsort(0, stable=True), {name})",
        f"{name}.scatter({axis}, {name}.argsort({axis}, stable=True), {name})",
    )  # fmt: skip
    return writer.rng.choice(forms)


def shapes(writer: Writer) -> str:
    rng = writer.rng
    name, value = writer.of_kind("fib", 1)
    axis, rank = writer.axis(value), len(value.shape)
    size = value.shape[axis]
    before, at, length = ":, " * (axis % rank), rng.randrange(size), rng.randint(1, size)
    forms = (
        f"{name}.permute({writer.order(value)})", f"{name}.reshape({writer.shape_of(size_of(value))})",
        f"{name}.flip({axis})", f"torch.roll({name}, {rng.randint(-size, size)}, {axis})", f"{name}.unsqueeze({axis})",
        f"torch.repeat_interleave({name}, 2, dim={axis})", f"{name}.repeat({(2,) + (1,) * (rank - 1)})",
        f"{name}[{before}{writer.part(size)}]", f"{name}[{before}{at}]", f"{name}.transpose(0, {axis})",
        f"torch.tril({name}, {rng.randint(-2, 2)})", f"{name}.diag()", f"{name}.chunk(2, {axis})[-1]",
        f"{name}.squeeze()", f"{name}.expand({(2, *value.shape)})", f"{name}.narrow({axis}, 0, {length})",
        f"{name}.unfold({axis}, {rng.randint(1, 3)}, {rng.randint(1, 2)})", f"{name}.diagonal(0, 0, 1)",
        f"F.pad({name}, ({rng.randint(-1, 2)}, {rng.randint(0, 2)}))", f"{name}.unbind({axis})[0]",
        f"{name}.movedim(0, {axis})", f"{name}.split({length}, {axis})[-1]", f"torch.rot90({name})",
        f"torch.as_strided({name}.contiguous(), (2, 3), (1, 1))", f"torch.stack([{name}, {name}], {axis})",
    )  # fmt: skip
    return rng.choice(forms)


def joins(writer: Writer) -> str:
    name, value = writer.of_kind("fib", 1)
    same = (value.dtype, value.shape[1:])
    other = writer.name(lambda v: len(v.shape) == len(value.shape) and (v.dtype, v.shape[1:]) == same)
    return f"torch.cat([{name}, {other}])"


def products(writer: Writer) -> str:
    name, value = writer.of_kind("f", 1, 4000)
    inner = value.shape[-1]
    other = writer.name(lambda v: 1 <= len(v.shape) <= 2 and v.shape[0] == inner and v.dtype == value.dtype)
    forms = [f"torch.tanh({name}) @ torch.tanh({other})"]
    if len(value.shape) == 3:
        forms += [f"torch.einsum('abc,dbc->ad', torch.tanh({name}), torch.tanh({name}))"]
        forms += [f"torch.bmm(torch.tanh({name}), torch.tanh({name}).mT)", f"torch.cdist({name}[0], {name}[0]+2)*0.1"]
        forms += [f"F.scaled_dot_product_attention({name}, {name}, {name}, is_causal=True)"]
    return writer.rng.choice(forms)


def places(writer: Writer) -> str:
    name, value = writer.of_kind("fi", 1)
    axis, rank = writer.axis(value), len(value.shape)
    most = max(1, 20_000 * value.shape[axis] // size_of(value))
    number, _ = writer.of_kind("i", 0, min(500, most))
    index = f"({number}.abs() % {value.shape[axis]}).long()"
    forms = [f"torch.index_select({name}, {axis}, {index}.flatten())", f"{name}[{':, ' * (axis % rank)}{index}]"]
    forms += [f"{name}.index_fill({axis}, {index}.flatten(), 1)"]
    if rank == 2 and axis % rank == 0 and kind_of(value) == "f":
        forms.append(f"F.embedding({index}, {name})")
    return writer.rng.choice(forms)


def windows(writer: Writer) -> str:
    rng = writer.rng
    name = writer.name(lambda v: kind_of(v) == "f" and len(v.shape) in (3, 4) and v.shape[-1] > 2 and size_of(v) < 4000)
    shape, stride = writer.values[name].shape, rng.randint(1, 2)
    channels = shape[1]
    if len(shape) == 4:
        weight = f"torch.linspace(-1, 1, {12 * channels}).reshape(3, {channels}, 2, 2)/{channels}"
        return rng.choice(
            (
                f"F.max_pool2d({name}, 2, {stride})", f"F.avg_pool2d({name}, 2, ceil_mode=True)",
                f"F.conv2d({name}, {weight}, stride={stride})", f"F.adaptive_max_pool2d({name}, (2, 1))",
                f"F.interpolate({name}, size=(5, 4), mode='bilinear', align_corners={rng.random() < 0.5})",
                f"F.batch_norm({name}, None, None, training=True)", f"F.max_pool3d({name}, (1, 2, 2), {stride})",
            )
        )  # fmt: skip
    weight = f"torch.linspace(-1, 1, {6 * channels}).reshape(2, {channels}, 3)/{channels}"
    each = f"torch.linspace(-1, 1, {2 * channels}).reshape({channels}, 1, 2)"
    back = f"torch.linspace(-1, 1, {4 * channels}).reshape({channels}, 2, 2)/{channels}"
    return rng.choice(
        (
            f"F.max_pool1d({name}, {rng.randint(1, 3)}, {stride})", f"F.avg_pool1d({name}, 3, 1, padding=1)",
            f"F.adaptive_avg_pool1d({name}, {rng.randint(1, 3)})", f"F.conv1d({name}, {weight}, padding=1)",
            f"F.conv1d({name}, {each}, groups={channels})", f"F.conv_transpose1d({name}, {back}, stride=2)",
            f"F.interpolate({name}, scale_factor=2, mode='{rng.choice(('nearest', 'linear'))}')",
            f"F.instance_norm({name})", f"F.batch_norm({name}, None, None, training=True)", f"F.group_norm({name}, 1)",
            f"F.pad({name}, (1, 1), mode='{rng.choice(('reflect', 'replicate', 'circular'))}')",
            f"F.max_pool2d({name}, 2, {stride})",
        )
    )  # fmt: skip


def writes(writer: Writer) -> str:
    name, value = writer.of_kind("f", 1)
    axis = writer.axis(value) % len(value.shape)
    at = writer.rng.randrange(value.shape[axis])
    change = writer.rng.choice(
        (
            "t.add_(1.5)", f"t[{':, ' * axis}{at}].mul_(2)", f"t.select({axis}, {at}).fill_(0.5)",
            "t.flatten()[::2].zero_()", "t.masked_fill_(t > 1, 1.0)", "t.clamp_(-1, 1)",
            "t.transpose(0, -1)[0].sub_(1)", "t.copy_(t.flip(0))",
        )
    )  # fmt: skip
    return f"changed({name}, lambda t: {change})"


FAMILIES: tuple[Family, ...] = (
    *(functions, functions, functions, pairs, pairs, reductions, reductions, orders, shapes, shapes, shapes),
    *(joins, products, places, windows, windows, writes),
)
