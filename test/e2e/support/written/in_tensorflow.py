"""Lines in TensorFlow's names, loops and functions of rows among them."""

from typing import Any

import tensorflow as tf
from support.written.draw import Family, Writer, kind_of, size_of

tf.config.optimizer.set_experimental_options({"disable_meta_optimizer": True})
"""Its optimizer takes the first one of ``unstack(x)[-1]`` in a ``stack``."""


@tf.function
def running(x: Any, step: Any, first: Any) -> Any:
    """What ``step(state, row)`` gives for each row of ``x``, in a ``TensorArray``."""
    rows = tf.TensorArray(x.dtype, size=x.shape[0])
    state = first
    for n in tf.range(x.shape[0]):
        state = step(state, x[n])
        rows = rows.write(n, state)
    return rows.stack()


def repeated(x: Any, step: Any, count: int) -> Any:
    """``step`` of ``x``, ``count`` times."""
    return tf.while_loop(lambda n, _: n < count, lambda n, y: (n + 1, step(y)), (0, x), maximum_iterations=20)[1]


def slope(function: Any, x: Any) -> Any:
    """The gradient of the sum of ``function(x)``."""
    with tf.GradientTape() as tape:
        tape.watch(x)
        result = tf.reduce_sum(function(x))
    return tf.convert_to_tensor(tape.gradient(result, x, unconnected_gradients=tf.UnconnectedGradients.ZERO))


NAMES: dict[str, Any] = {"tf": tf, "running": running, "repeated": repeated, "slope": slope}
_OF_FLOATS = (
    "tf.sin({0})", "tf.tanh({0})", "tf.abs({0})", "-{0}", "tf.square({0})", "tf.nn.relu({0})", "tf.sigmoid({0})",
    "tf.nn.gelu({0})", "tf.nn.silu({0})", "tf.nn.elu({0})", "tf.nn.softplus({0})", "tf.nn.relu6({0})",
    "tf.nn.leaky_relu({0}, 0.1)", "tf.nn.selu({0})", "tf.floor({0})", "tf.sqrt(tf.abs({0}))", "tf.round({0})",
    "tf.math.log1p(tf.abs({0}))", "tf.sign({0})", "tf.cast({0}, tf.int32)", "tf.clip_by_value({0}, -1.0, 2.0)",
    "tf.math.erf({0})", "tf.math.rsqrt(tf.abs({0}) + 1)", "tf.math.expm1(tf.minimum({0}, 2.0))", "{0} > 0.1",
    "tf.math.floormod({0}, 0.75)", "{0} // 0.5", "{0} % 1.5", "tf.math.is_finite({0})", "tf.math.ceil({0})",
    "tf.math.reciprocal_no_nan({0})", "tf.math.softsign({0})", "tf.nn.log_softmax({0})", "tf.nn.softmax({0})",
    "tf.math.multiply_no_nan({0}, {0})", "tf.where({0} > 0, {0}, tf.exp({0}) - 1)", "tf.math.lgamma(tf.abs({0}) + 1)",
    "tf.math.digamma(tf.abs({0}) + 1)", "tf.clip_by_norm({0}, 2.0)", "tf.nn.l2_loss({0})",
    "tf.linalg.global_norm([{0}])",
    "tf.math.atan({0})", "tf.math.asinh({0})", "tf.math.cosh(tf.clip_by_value({0}, -3.0, 3.0))",
    "tf.math.bessel_i0e({0})",
    "tf.cast(tf.cast({0}, tf.bfloat16), tf.float32)", "tf.reduce_logsumexp({0})", "tf.math.xlogy({0}, tf.abs({0}) + 1)",
    "tf.histogram_fixed_width({0}, [-3.0003, 3.0003], 7)", "tf.bitcast({0}, tf.int32)", "tf.nn.moments({0}, [0])[1]",
    "tf.nn.sigmoid_cross_entropy_with_logits(tf.sigmoid({0}), {0})",
)  # fmt: skip
_OF_INTEGERS = (
    "{0}*3+1", "{0}//3", "{0}%5", "tf.bitwise.bitwise_and({0}, 7)", "tf.bitwise.right_shift({0}, 1)",
    "tf.cast({0}, tf.float32)", "{0} > 2", "tf.bitwise.invert({0})", "tf.abs({0})", "-{0}", "tf.math.floormod({0}, 4)",
    "tf.clip_by_value({0}, -2, 5)", "tf.truncatediv({0}, 3)", "tf.one_hot(tf.abs(tf.reshape({0}, [-1])[:9]) % 6, 6)",
    "tf.math.bincount(tf.abs({0}) % 11, minlength=11, maxlength=11)", "tf.sign({0})", "tf.truncatemod({0}, 4)",
    "tf.sequence_mask(tf.abs(tf.reshape({0}, [-1])[:6]) % 5, 5)", "{0} / 4", "tf.cast({0}, tf.int64)",
    "tf.bitwise.left_shift({0}, 2)", "tf.cast({0}, tf.bool)",
)  # fmt: skip
_OF_BOOLS = (
    "~{0}",
    "tf.cast({0}, tf.float32)",
    "tf.math.count_nonzero({0}, dtype=tf.int32)",
    "tf.where({0}, 1.5, 0.0)",
)
_PAIRS = {
    "ff": (
        "{0}+{1}", "{0}-{1}", "{0}*{1}", "tf.maximum({0}, {1})", "tf.minimum({0}, {1})", "{0}<{1}", "{0}>={1}",
        "{0}/(tf.abs({1})+1)", "tf.atan2({0}, {1})", "tf.where({0} > {1}, {0}, {1}*0.5)",
        "tf.math.squared_difference({0}, {1})", "tf.math.divide_no_nan({0}, {1})", "tf.math.add_n([{0}, {0}])",
        "tf.math.xdivy({0}, tf.abs({1}) + 1)", "tf.math.floordiv({0}, tf.abs({1}) + 1)",
    ),
    "ii": (
        "{0}+{1}", "{0}-{1}", "{0}*{1}", "tf.maximum({0}, {1})", "{0}<{1}", "tf.equal({0}, {1})",
        "{0}//(tf.abs({1})%7+1)", "{0}%(tf.abs({1})%7+1)", "tf.bitwise.bitwise_xor({0}, {1})",
    ),
    "bb": ("{0} & {1}", "{0} | {1}", "{0} ^ {1}", "tf.equal({0}, {1})"),
}  # fmt: skip
_MOST_ROWS = 40
"""Of a loop, which TensorFlow runs op by op while a program is drawn."""
_ROW_TO_ROW = ("x * 0.5 + 1", "tf.tanh(x)", "tf.cumsum(x)", "x - tf.reduce_mean(x)", "tf.sort(x)", "tf.nn.softmax(x)")
_ROW_TO_ONE = ("tf.reduce_sum(x)", "tf.reduce_max(x)", "x[0] - x[-1]", "tf.reduce_mean(tf.tanh(x))")


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
        return f"tf.where({mask}, {number}, tf.zeros_like({number}))"
    return writer.rng.choice(_PAIRS.get(kinds, ("tf.cast({0}, tf.float32)*tf.cast({1}, tf.float32)",))).format(
        one, other
    )


def reductions(writer: Writer) -> str:
    name, value = writer.of_kind("fib", 1)
    axes, kept = writer.axes(value), writer.rng.random() < 0.3
    names = {
        "f": ("reduce_sum", "reduce_max", "reduce_min", "reduce_mean", "math.reduce_std", "math.reduce_variance",
              "reduce_logsumexp", "math.reduce_euclidean_norm"),
        "i": ("reduce_sum", "reduce_max", "reduce_min", "reduce_prod"),
        "b": ("reduce_any", "reduce_all"),
    }[kind_of(value)]  # fmt: skip
    return f"tf.{writer.rng.choice(names)}({name}, axis={list(axes)}, keepdims={kept})"


def orders(writer: Writer) -> str:
    name, value = writer.of_kind("fi", 1)
    axis, back = writer.axis(value), writer.rng.random() < 0.5
    return writer.rng.choice(
        (
            f"tf.cumsum({name}, axis={axis}, exclusive={back}, reverse={writer.rng.random() < 0.5})",
            f"tf.math.cumprod(tf.tanh(tf.cast({name}, tf.float32)), axis={axis}, exclusive={back})",
            f"tf.math.cumulative_logsumexp(tf.cast({name}, tf.float32), axis={axis}, reverse={back})",
            f"tf.sort({name}, axis={axis}, direction='{'DESCENDING' if back else 'ASCENDING'}')",
            f"tf.argsort({name}, axis={axis}, stable=True)",
            f"tf.argmax({name}, axis={axis}, output_type=tf.int32)",
            f"tf.argmin({name}, axis={axis})",
            f"tf.math.top_k({name}, k={writer.rng.randint(1, value.shape[-1])})[{int(back)}]",
            f"tf.reverse({name}, [{axis}])",
            f"tf.searchsorted(tf.sort(tf.reshape({name}, [-1])), tf.reshape({name}, [-1])[:7])",
            f"tf.math.in_top_k(tf.zeros([1], tf.int32), tf.cast(tf.reshape({name}, [1, -1]), tf.float32), 2)",
        )
    )


def shapes(writer: Writer) -> str:
    rng = writer.rng
    name, value = writer.of_kind("fib", 1)
    axis, rank = writer.axis(value), len(value.shape)
    size = value.shape[axis]
    before = ":, " * (axis % rank)
    begin = [rng.randrange(each) for each in value.shape]
    sizes = [rng.randint(1, each - first) for each, first in zip(value.shape, begin, strict=True)]
    pads = [[rng.randint(0, 1), rng.randint(0, 2)] for _ in value.shape]
    mode = rng.choice(("CONSTANT", "CONSTANT", "SYMMETRIC", "REFLECT")) if kind_of(value) != "b" else "CONSTANT"
    return rng.choice(
        (
            f"tf.transpose({name}, {writer.order(value)})",
            f"tf.reshape({name}, {writer.shape_of(size_of(value))})",
            f"tf.roll({name}, {rng.randint(-size, size)}, axis={axis})",
            f"tf.expand_dims({name}, {axis})",
            f"tf.repeat({name}, 2, axis={axis})",
            f"tf.tile({name}, {[rng.randint(1, 2) for _ in range(rank)]})",
            f"tf.pad({name}, {pads}, mode='{mode}')",
            f"{name}[{before}{writer.part(size)}]",
            f"{name}[{before}{rng.randrange(-size, size)}]",
            f"{name}[..., ::-1]",
            f"{name}[..., tf.newaxis]",
            f"tf.slice({name}, {begin}, {sizes})",
            f"tf.strided_slice({name}, {begin}, {list(value.shape)}, {[rng.randint(1, 2) for _ in value.shape]})",
            f"tf.linalg.band_part({name}, {rng.randint(-1, 3)}, {rng.randint(-1, 3)})",
            f"tf.linalg.diag_part({name})",
            f"tf.linalg.diag({name}[..., :20])",
            f"tf.squeeze({name})",
            f"tf.broadcast_to({name}, {(2, *value.shape)})",
            f"tf.split({name}, [1, {size - 1}], axis={axis})[0]",
            f"tf.unstack({name}, axis={axis})[-1]",
            f"tf.reverse_sequence({name}, tf.constant({[rng.randint(0, size) for _ in range(value.shape[0])]}), "
            f"seq_axis={axis % rank}, batch_axis=0)",
        )
    )


def joins(writer: Writer) -> str:
    name, value = writer.of_kind("fib", 1)
    rest = value.shape[1:]
    other = writer.name(lambda v: len(v.shape) == len(value.shape) and v.shape[1:] == rest and v.dtype == value.dtype)
    axis = writer.axis(value)
    return writer.rng.choice((f"tf.concat([{name}, {other}], 0)", f"tf.stack([{name}, {name}], axis={axis})"))


def products(writer: Writer) -> str:
    name, value = writer.of_kind("f", 1, 4000)
    inner = value.shape[-1]
    other = writer.name(lambda v: len(v.shape) == 2 and v.shape[0] == inner and kind_of(v) == "f")
    forms = [f"tf.tensordot(tf.tanh({name}), tf.tanh({other}), 1)"]
    if len(value.shape) == 3:
        forms.append(f"tf.einsum('abc,dbc->ad', tf.tanh({name}), tf.tanh({name}))")
        forms.append(f"tf.matmul(tf.tanh({name}), tf.tanh({name}), transpose_b=True)")
        forms.append(
            f"tf.nn.conv1d({name}, tf.tanh({name})[:1, :, :1] * tf.ones([3, {inner}, 2])[:, :, :1], 1, 'SAME')"
        )
    if len(value.shape) == 2:
        forms += [f"tf.linalg.trace({name})", f"tf.norm({name})", f"tf.nn.l2_normalize({name}, axis=0)"]
        forms += [f"tf.linalg.matvec({name}, {name}[0])", f"tf.matmul({name}, {name}, transpose_a=True)"]
        forms += [f"tf.abs(tf.signal.rfft({name}))", f"tf.signal.frame({name}, {min(inner, 3)}, 2)"]
        if inner < 20:
            system = f"tf.matmul({name}, {name}, transpose_a=True) + 10.0*tf.eye({inner})"
            forms += [f"tf.linalg.solve({system}, tf.transpose({name}))", f"tf.linalg.cholesky({system})"]
            forms += [f"tf.linalg.inv({system})", f"tf.linalg.det({system} / 20.0)"]
    if len(value.shape) == 4:
        size = f"{[writer.rng.randint(1, 2 * each) for each in value.shape[1:3]]}"
        method = writer.rng.choice(("bilinear", "nearest", "bicubic"))
        forms = [
            f"tf.nn.avg_pool2d({name}, 2, {writer.rng.randint(1, 2)}, '{writer.rng.choice(('SAME', 'VALID'))}')",
            f"tf.nn.max_pool2d({name}, {writer.rng.randint(1, 3)}, 2, 'SAME')",
            f"tf.nn.depthwise_conv2d({name}, tf.tanh({name}[0, :1, :1, :, None]) * tf.ones([2, 2, {inner}, 2]), "
            "[1, 1, 1, 1], 'SAME')",
            f"tf.image.resize({name}, {size}, method='{method}')",
            f"tf.nn.space_to_depth({name}[:, :{value.shape[1] // 2 * 2}, :{value.shape[2] // 2 * 2}], 2)",
            f"tf.image.flip_left_right({name})",
        ]
    return writer.rng.choice(forms)


def places(writer: Writer) -> str:
    rng = writer.rng
    name, value = writer.of_kind("fi", 1)
    axis = writer.axis(value)
    most = max(1, 40_000 * value.shape[axis] // size_of(value))
    number, chosen = writer.of_kind("i", 1, min(1000, most))
    size, rows = value.shape[0], f"tf.cast(tf.abs(tf.reshape({number}, [-1])) % {value.shape[0]}, tf.int32)"
    few = f"{rows}[:{size}]"
    count = min(size, size_of(chosen))
    return rng.choice(
        (
            f"tf.gather({name}, tf.abs({number}) % {value.shape[axis]}, axis={axis})",
            f"tf.gather_nd({name}, {rows}[:, None])",
            f"tf.tensor_scatter_nd_add({name}, {few}[:, None], {name}[:{count}])",
            f"tf.tensor_scatter_nd_max({name}, {few}[:, None], {name}[:{count}])",
            f"tf.tensor_scatter_nd_update({name}, [[{rng.randrange(size)}]], {name}[:1] * 2)",
            f"tf.scatter_nd({few}[:, None], {name}[:{count}], {list(value.shape)})",
            f"tf.math.unsorted_segment_sum({name}, tf.range({size}) % {rng.randint(1, 5)}, {rng.randint(5, 7)})",
            f"tf.math.unsorted_segment_max({name}, tf.range({size}) % 3, 3)",
            f"tf.gather({name}, tf.argsort({name}, axis=-1, stable=True), batch_dims={len(value.shape) - 1})",
            f"tf.nn.embedding_lookup({name}, {rows})",
        )
    )


def loops(writer: Writer) -> str:
    rng = writer.rng
    name = writer.name(lambda v: kind_of(v) == "f" and len(v.shape) > 0 and v.shape[0] <= _MOST_ROWS)
    value = writer.values[name]
    size, row, one = value.shape[0], rng.choice(_ROW_TO_ROW), rng.choice(_ROW_TO_ONE)
    rows = f"tf.reshape({name}, [{size}, -1])"
    return rng.choice(
        (
            f"running({name}, lambda s, x: tf.maximum(0.9 * s, x), tf.zeros_like({name}[0]))",
            f"running({rows}, lambda s, x: 0.5 * s + {one}, tf.constant(0.0))",
            f"repeated(tf.reshape({name}, [-1]), lambda x: {row}, {rng.randint(0, 6)})",
            f"tf.while_loop(lambda x: tf.reduce_max(tf.abs(x)) > 1, lambda x: x * 0.6, [{name}])[0]",
            f"tf.map_fn(lambda x: {one}, {rows})",
            f"tf.vectorized_map(lambda x: {row}, {rows})",
            f"tf.scan(lambda s, x: 0.5 * s + x, {name})",
            f"tf.scan(lambda s, x: s * 0.9 + {one}, {rows}, initializer=0.0, reverse={rng.random() < 0.5})",
            f"tf.foldl(lambda s, x: tf.maximum(s, x) * 0.9, {name})",
            f"tf.cond(tf.reduce_sum({name}) > 0, lambda: {name} * 2, lambda: -{name})",
            f"tf.switch_case(tf.cast(tf.abs(tf.reduce_sum({name})), tf.int32) % 3, "
            f"[lambda x={name}: x, lambda x={name}: x + 1, lambda x={name}: x * 2])",
            f"tf.case([(tf.reduce_max({name}) > 2, lambda x={name}: x)], default=lambda x={name}: -x)",
            f"slope(lambda x: tf.tanh(x) * {one}, tf.reshape({name}, [-1]))",
            f"slope(lambda x: {row}, tf.reshape({name}, [-1]))",
            f"slope(lambda x: tf.map_fn(lambda y: tf.reduce_sum(y * y), x), {rows})",
        )
    )


FAMILIES: tuple[Family, ...] = (
    *(functions,) * 3, *(pairs,) * 2, *(reductions,) * 2, *(orders,) * 2, *(shapes,) * 3, joins, *(products,) * 2,
    *(places,) * 2, *(loops,) * 3,
)  # fmt: skip
