"""Lines in JAX's names: those that NumPy has too, and those of ``jax.lax``, ``jax.nn`` and transformations."""

import jax
import jax.numpy as jnp
from jax import lax
from support.written import in_numpy
from support.written.draw import Family, Writer, kind_of, size_of

NAMES = {"np": jnp, "jax": jax, "jnp": jnp, "lax": lax, "nn": jax.nn}
_OF_FLOATS = (
    "nn.gelu({0})", "nn.silu({0})", "nn.softplus({0})", "nn.elu({0})", "nn.relu6({0})", "nn.celu({0})", "nn.selu({0})",
    "nn.hard_tanh({0})", "nn.log_sigmoid({0})", "lax.erf({0})", "lax.round({0})", "lax.rsqrt(lax.abs({0}) + 1)",
    "lax.integer_pow({0}, 3)", "lax.is_finite({0})", "lax.clamp(-1.0, {0}, 1.0)", "lax.reduce_precision({0}, 8, 10)",
    "lax.convert_element_type({0}, jnp.bfloat16).astype(jnp.float32)", "jax.scipy.special.logsumexp({0})",
    "lax.bitcast_convert_type({0}, jnp.int32)", "lax.nextafter({0}, {0} + 1)", "lax.stop_gradient({0})",
    "jax.scipy.stats.norm.logpdf({0})", "nn.one_hot(lax.convert_element_type(lax.abs({0}.ravel()[:9]), jnp.int32), 5)",
    "nn.leaky_relu({0}, 0.1)", "nn.standardize({0}.ravel())", "jnp.array({0}).at[..., 0].set(1.5)", "nn.glu({0})",
)  # fmt: skip
_OF_INTEGERS = (
    "lax.population_count({0})", "lax.clz({0})", "lax.shift_right_logical({0}, 3)", "lax.rem({0}, jnp.int32(3))",
    "lax.sign({0})", "nn.one_hot(lax.abs({0}.ravel()[:7]) % 4, 4)", "lax.bitcast_convert_type({0}, jnp.float32) * 0",
    "{0}.astype(jnp.int8)", "{0}.astype(jnp.uint8).astype(jnp.int32)",
)  # fmt: skip
_ROW_TO_ROW = (
    "x * 0.5 + 1",
    "jnp.tanh(x)",
    "jnp.cumsum(x)",
    "x - x.mean()",
    "jnp.sort(x)",
    "jnp.where(x > 0, x, 0.1 * x)",
)
_ROW_TO_ONE = ("x.sum()", "x.max()", "x[0] - x[-1]", "jnp.argmax(x)", "(x > 0).sum()", "jnp.tanh(x).mean()")


def functions(writer: Writer) -> str:
    name, value = writer.of_kind("fi", 1)
    return writer.rng.choice(_OF_FLOATS if kind_of(value) == "f" else _OF_INTEGERS).format(name)


def loops(writer: Writer) -> str:
    """Calls with a body; a function of a row is in ``x``."""
    rng = writer.rng
    name, value = writer.of_kind("f", 1, 10_000)
    number, _ = writer.of_kind("fi", 0, 1000)
    row, one = rng.choice(_ROW_TO_ROW), rng.choice(_ROW_TO_ONE)
    size = value.shape[0]
    forms = [
        f"lax.fori_loop(0, {rng.randint(0, 6)}, lambda i, x: {row}, {name}.ravel())",
        f"lax.fori_loop(0, {size}, lambda i, x: x.at[i].multiply(0.5), {name})",
        f"lax.fori_loop(0, {rng.randint(1, 9)}, lambda i, x: x.at[i % {size}].set(x[(i + 1) % {size}] * 0.5), {name})",
        f"lax.while_loop(lambda x: jnp.abs(x).max() > 1, lambda x: x * 0.6, {name})",
        f"lax.while_loop(lambda s: s[0] < 4, lambda s: (s[0] + 1, jnp.roll(s[1], 1) + s[1]), (0, {name}))[1]",
        f"lax.cond({number}.sum() > 0, lambda x: {row}, lambda x: -x, {name}.ravel())",
        f"lax.switch(jnp.abs({number}.astype(jnp.int32)).sum() % 3, "
        f"[lambda x: x, lambda x: {row}, lambda x: x[::-1]], {name}.ravel())",
        f"lax.scan(lambda c, x: (0.5 * c + {one}, c), 0.0, {name}.reshape({size}, -1))[{rng.randrange(2)}]",
        f"lax.scan(lambda c, x: (jnp.maximum(0.9 * c, x), c * x), jnp.zeros_like({name}[0]), {name}, "
        f"reverse={rng.random() < 0.5})[{rng.randrange(2)}]",
        f"lax.scan(lambda c, i: (c.at[i].add(c[{size} - 1 - i]), c[i]), {name}, jnp.arange({size}))[0]",
        f"lax.map(lambda x: {one}, {name}.reshape({size}, -1))",
        f"jax.vmap(lambda x: {row})({name}.reshape({size}, -1))",
        f"jax.vmap(lambda x: {one}, in_axes=1)({name}.reshape({size}, -1))",
        f"jax.vmap(lambda x: lax.fori_loop(0, 3, lambda i, y: y + {one}, x[0]))({name}.reshape({size}, -1))",
        f"jax.vmap(lambda x: lax.cond(x[0] > 0, lambda: {one} * 1.0, lambda: 0.5))({name}.reshape({size}, -1))",
        f"jax.vmap(lambda x: lax.while_loop(lambda s: s < 2, lambda s: s + 0.7, x[0]))({name}.reshape({size}, -1))",
        f"jax.grad(lambda x: jnp.sum(jnp.tanh(x) * {one}))({name}.ravel())",
        f"jax.jvp(lambda x: {row}, ({name}.ravel(),), (jnp.ones({size_of(value)}),))[1]",
        f"jax.checkpoint(lambda x: {row})({name}.ravel())",
        f"jnp.vectorize(lambda x: {one}, signature='(n)->()')({name})",
        f"jnp.apply_along_axis(lambda x: {row}, {writer.axis(value)}, {name})",
    ]
    if size_of(value) <= 40:
        forms += [f"jax.{rng.choice(('jacfwd', 'jacrev'))}(lambda x: {row})({name}.ravel())"]
        forms += [f"jax.hessian(lambda x: jnp.sum(jnp.tanh(x) ** 2))({name}.ravel())"]
    return rng.choice(forms)


def scans(writer: Writer) -> str:
    name, value = writer.of_kind("fi", 1)
    axis, reverse = writer.axis(value), writer.rng.random() < 0.5
    positive = axis % len(value.shape)
    return writer.rng.choice(
        (
            f"lax.associative_scan(jnp.{writer.rng.choice(('add', 'maximum', 'minimum'))}, {name}, "
            f"reverse={reverse}, axis={axis})",
            f"lax.associative_scan(lambda a, b: a + b, {name}, reverse={reverse}, axis={axis})",
            f"lax.cummax({name}, axis={positive}, reverse={reverse})",
            f"lax.cumsum({name}, axis={positive}, reverse={reverse})",
            f"lax.cumlogsumexp({name} * 1.0, axis={positive}, reverse={reverse})",
            f"nn.softmax({name} * 1.0, axis={axis})",
            f"nn.log_softmax({name} * 1.0, axis={axis})",
            f"nn.logsumexp({name} * 1.0, axis={axis}, keepdims={reverse})",
            f"lax.top_k({name}, {writer.rng.randint(1, value.shape[-1])})[{int(reverse)}]",
            f"lax.sort({name}, dimension={positive})",
            f"lax.sort(({name}, lax.iota(jnp.int32, {size_of(value)}).reshape({value.shape})), "
            f"dimension={positive}, num_keys=1)[{int(reverse)}]",
            f"lax.rev({name}, ({positive},))",
            f"jnp.argsort({name}, axis={axis}, stable=True, descending={reverse})",
            f"jnp.nanmedian({name}, axis={axis})",
            f"jnp.quantile({name} * 1.0, 0.3, axis={axis})",
            f"lax.argmax({name}, {positive}, jnp.int32)",
        )
    )


def updates(writer: Writer) -> str:
    rng = writer.rng
    name, value = writer.of_kind("fi", 1)
    size = value.shape[0]
    number, _ = writer.of_kind("i", 1, 300)
    index = f"{number}.ravel()"
    where = rng.choice((f"jnp.abs({index}) % {size}", index, f"{rng.randrange(-size, size)}", writer.part(size)))
    mode = rng.choice(("", "", ", mode='drop'", ", mode='clip'"))
    begin = [rng.randrange(each) for each in value.shape]
    sizes = [rng.randint(1, each - first) for each, first in zip(value.shape, begin, strict=True)]
    starts = ", ".join(f"jnp.int32({each})" for each in begin)
    segments = f"jax.ops.segment_{{}}({name}, jnp.arange({size}) % {rng.randint(1, 5)}, {rng.randint(1, 6)})"
    return rng.choice(
        (
            f"{name}.at[{where}].{rng.choice(('add', 'max', 'min'))}({rng.choice(('1', '2', name + '[0]'))}{mode})",
            f"{name}.at[{where}].get({mode[2:]})",
            f"{name}.at[::2].set({name}[::-1][::2])",
            f"lax.dynamic_slice({name}, ({starts},), {tuple(sizes)})",
            f"lax.dynamic_update_slice({name}, {name}[{', '.join(f':{each}' for each in sizes)}] * 2, ({starts},))",
            f"lax.dynamic_index_in_dim({name}, jnp.abs({number}).sum() % {size}, keepdims=False)",
            f"lax.dynamic_slice_in_dim({name}, {number}.sum(), {rng.randint(1, size)})",
            segments.format("sum"),
            segments.format("max"),
            f"jnp.put_along_axis({name}, jnp.zeros_like({name}[:1], int), 3, axis=0, inplace=False)",
            f"jnp.where({name} > {name}.mean(), {name}, {name}.min())",
            f"jnp.unique({name}, size={rng.randint(1, 9)}, fill_value=0)",
            f"jnp.nonzero({name}.ravel() > 0, size={rng.randint(1, 9)}, fill_value=-1)[0]",
        )
    )


def windows(writer: Writer) -> str:
    """Convolutions, poolings, paddings and batched products."""
    rng = writer.rng
    name, value = writer.of_kind("f", 2, 5000)
    shape = value.shape
    pads = [(rng.randint(-1, 2), rng.randint(0, 2), rng.randint(0, 2)) for _ in shape]
    window = tuple(rng.randint(1, min(3, each)) for each in shape)
    strides = tuple(rng.randint(1, 2) for _ in shape)
    forms = [
        f"lax.pad({name}, 0.5, {pads})",
        f"lax.reduce_window({name}, 0.0, lax.add, {window}, {strides}, '{rng.choice(('SAME', 'VALID'))}')",
        f"lax.reduce_window({name}, -jnp.inf, lax.max, {window}, {strides}, '{rng.choice(('SAME', 'VALID'))}')",
        f"lax.reduce({name}, 0.0, lax.add, {tuple(sorted(axis % len(shape) for axis in writer.axes(value)))})",
        f"jax.image.resize({name}, {tuple(rng.randint(1, 2 * each) for each in shape)}, "
        f"'{rng.choice(('nearest', 'linear', 'cubic'))}')",
        f"lax.broadcast_in_dim({name}, {(3, *shape)}, {tuple(range(1, len(shape) + 1))})",
        f"jnp.fft.rfft({name}).real",
        f"jnp.einsum('ab...->b...', {name})",
    ]
    if len(shape) == 2:
        taps, dilation = rng.randint(1, 3), rng.randint(1, 2)
        forms += [
            f"lax.conv_general_dilated({name}[None], jnp.tanh({name}[:, None, :{taps}]), "
            f"({rng.randint(1, 2)},), '{rng.choice(('SAME', 'VALID'))}', lhs_dilation=({dilation},), "
            f"feature_group_count={shape[0]})",
            f"lax.conv_general_dilated({name}[None, None], jnp.tanh({name}[None, None, :{taps}, :{taps}]), "
            f"({rng.randint(1, 2)}, 1), 'SAME', rhs_dilation=({dilation}, 1))",
            f"jnp.convolve({name}[0], {name}[-1, :5], mode='{rng.choice(('full', 'same', 'valid'))}')",
            f"lax.dot_general({name}, {name}, (((0,), (0,)), ((), ())))",
            f"jnp.linalg.qr(jnp.tanh({name}))[1] ** 2",
            f"jnp.linalg.svd({name}[:9, :9], compute_uv=False)",
            f"jnp.linalg.cholesky({name}[:9] @ {name}[:9].T + 9 * jnp.eye(len({name}[:9])))",
            f"jax.scipy.linalg.solve_triangular(jnp.tril({name}[:7, :7]) + 9 * jnp.eye(len({name}[:7, :7])), "
            f"{name}[:7])",
        ]
    if len(shape) == 3:
        forms += [
            f"lax.batch_matmul(jnp.tanh({name}), jnp.tanh(jnp.swapaxes({name}, 1, 2)))",
            f"nn.dot_product_attention({name}[None], {name}[None], {name}[None], is_causal={rng.random() < 0.5})",
            f"lax.conv_general_dilated({name}, jnp.tanh({name}[:2, :, :2]), (1,), 'SAME')",
        ]
    return rng.choice(forms)


FAMILIES: tuple[Family, ...] = (
    *in_numpy.FAMILIES,
    functions,
    functions,
    *(loops,) * 5,
    scans,
    scans,
    *(updates,) * 3,
    windows,
    windows,
)
