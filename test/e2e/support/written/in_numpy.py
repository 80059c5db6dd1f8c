"""Lines in NumPy's names."""

from support.written.draw import Family, Writer, kind_of, size_of

_OF_FLOATS = (
    "np.sin({0})", "np.tanh({0})", "np.abs({0})", "-{0}", "{0}**2", "np.maximum({0}, 0)", "1/(1+np.exp(-{0}))",
    "np.floor({0})", "np.sqrt(np.abs({0}))", "np.log1p(np.abs({0}))", "np.sign({0})", "np.rint({0})",
    "{0}.astype(np.int32)", "np.clip({0}, -1, 2)", "np.cbrt({0})", "np.nan_to_num({0})", "np.isfinite({0})",
    "{0}*2+1", "2-{0}", "{0}/3", "{0} > 0.1", "np.exp2(-np.abs({0}))", "np.expm1(-np.abs({0}))",
    "np.reciprocal({0}*{0}+1)", "np.degrees({0})", "np.heaviside({0}, 0.5)", "np.trunc({0})", "np.arctan({0})",
    "np.arcsinh({0})", "np.signbit({0})", "np.sinc({0})", "{0}//0.5", "np.fmod({0}, 1.5)", "{0} % 0.75", "np.cos({0})",
    "np.digitize({0}, np.array([-1., 0., 1.], np.float32))", "np.select([{0} > 1, {0} < -1], [1.0*{0}, {0}*{0}], 0.0)",
    "np.interp({0}, np.array([-2., 0., 2.], np.float32), np.array([0., 1., 4.], np.float32))",
    "np.histogram({0}, bins=5, range=(-3, 3))[0]", "np.searchsorted(np.sort({0}.ravel()), {0}.ravel()[:7])",
    "np.convolve({0}.ravel()[:50], np.array([1., 2., 1.], np.float32))",
)  # fmt: skip
_OF_INTEGERS = (
    "{0}*3+1", "{0}//3", "{0}%5", "{0}&7", "{0}^5", "{0}>>1", "{0}<<2", "{0}.astype(np.float32)", "{0} > 2", "~{0}",
    "np.abs({0})", "-{0}", "np.sign({0})", "{0}**2", "{0}/4", "np.bitwise_count({0})", "np.gcd({0}, 12)",
    "np.clip({0}, -2, 5)", "np.divmod({0}, 4)[1]", "np.isin({0}, [1, 2, 3])",
    "np.unravel_index(np.abs({0}) % 12, (3, 4))[1]", "np.bincount(np.abs({0}).ravel() % 11, minlength=11)",
    "np.arange(13, dtype=np.float32) * {0}.sum()",
)  # fmt: skip
_OF_BOOLS = ("~{0}", "{0}.astype(np.float32)", "{0}.sum()", "np.where({0}, 1.5, 0)", "np.any({0})", "{0}*2")
_PAIRS = {
    "ff": (
        "{0}+{1}", "{0}-{1}", "{0}*{1}", "np.maximum({0}, {1})", "np.minimum({0}, {1})", "{0}<{1}", "{0}>={1}",
        "{0}/(np.abs({1})+1)", "np.arctan2({0}, {1})", "np.hypot({0}, {1})", "np.where({0} > {1}, {0}, {1}*0.5)",
        "np.logaddexp({0}, {1})", "np.copysign({0}, {1})",
    ),
    "ii": (
        "{0}+{1}", "{0}-{1}", "{0}*{1}", "np.maximum({0}, {1})", "{0}<{1}", "{0}=={1}", "{0}&{1}",
        "{0}//(np.abs({1})%7+1)", "{0}%(np.abs({1})%7+1)",
    ),
    "bb": ("{0} & {1}", "{0} | {1}", "{0} ^ {1}", "{0} == {1}"),
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
        return f"np.where({mask}, {number}, 0)"
    return writer.rng.choice(_PAIRS.get(kinds, ("{0}+{1}", "{0}*{1}", "{0}<{1}"))).format(one, other)


def reductions(writer: Writer) -> str:
    name, value = writer.of_kind("fib", 1)
    axes, kept = writer.axes(value), ", keepdims=True" if writer.rng.random() < 0.3 else ""
    where = "None" if len(axes) == len(value.shape) else str(axes[0] if len(axes) == 1 else axes)
    both = {
        "f": ("sum", "max", "min", "mean", "any", "all", "var", "std"),
        "i": ("sum", "max", "min", "mean", "any", "all"),
        "b": ("sum", "any", "all", "mean"),
    }[kind_of(value)]
    if writer.rng.random() < 0.4:
        return f"{name}.{writer.rng.choice(both)}(axis={where}{kept})"
    rest = ("median", "ptp", "average") if kind_of(value) == "f" else ("count_nonzero",)
    function = writer.rng.choice((*both, *rest))
    return f"np.{function}({name}, axis={where}{'' if function == 'average' else kept})"


def running(writer: Writer) -> str:
    name, value = writer.of_kind("fi", 1)
    axis = writer.axis(value)
    return writer.rng.choice(
        (
            f"np.cumsum({name}, axis={axis})",
            f"np.maximum.accumulate({name}, axis={axis})",
            f"np.diff({name}, axis={axis})",
            f"np.cumsum({name})",
            f"np.gradient({name}, axis={axis})",
        )
    )


def orders(writer: Writer) -> str:
    name, value = writer.of_kind("fi", 1)
    axis = writer.axis(value)
    return writer.rng.choice(
        (
            f"np.sort({name}, axis={axis})",
            f"np.argsort({name}, axis={axis}, kind='stable')",
            f"np.argmax({name}, axis={axis})",
            f"np.argmin({name}, axis={axis})",
            f"np.argmax({name})",
            f"np.take_along_axis({name}, np.argsort({name}, axis={axis}, kind='stable'), axis={axis})",
        )
    )


def shapes(writer: Writer) -> str:
    rng = writer.rng
    name, value = writer.of_kind("fib", 1)
    axis, rank = writer.axis(value), len(value.shape)
    size = value.shape[axis]
    before = ":, " * (axis % rank)
    return rng.choice(
        (
            f"{name}.transpose({writer.order(value)})",
            f"{name}.reshape({writer.shape_of(size_of(value))})",
            f"np.flip({name}, {axis})",
            f"np.roll({name}, {rng.randint(-size, size)}, axis={axis})",
            f"np.expand_dims({name}, {axis})",
            f"np.repeat({name}, 2, axis={axis})",
            f"np.tile({name}, 2)",
            f"np.pad({name}, {rng.randint(0, 2)}, mode='{rng.choice(('constant', 'edge', 'reflect'))}')",
            f"{name}[{before}{writer.part(size)}]",
            f"{name}[{before}{rng.randrange(-size, size)}]",
            f"{name}[{before}::-1]",
            f"np.swapaxes({name}, {axis}, 0)",
            f"np.moveaxis({name}, 0, {axis})",
            f"np.rot90({name})",
            f"np.tril({name}, {rng.randint(-2, 2)})",
            f"np.diag({name})",
            f"np.array_split({name}, 3, axis={axis})[0]",
            f"np.squeeze({name})",
            f"np.broadcast_to({name}, {(2, *value.shape)})",
            f"np.delete({name}, {size // 2}, axis={axis})",
            f"np.insert({name}, {size // 2}, 1, axis={axis})",
            f"np.lib.stride_tricks.sliding_window_view({name}, 2, axis={axis})",
        )
    )


def joins(writer: Writer) -> str:
    name, value = writer.of_kind("fib", 1)
    rest = value.shape[1:]
    other = writer.name(lambda v: len(v.shape) == len(value.shape) and v.shape[1:] == rest)
    axis = writer.axis(value)
    return writer.rng.choice(
        (
            f"np.concatenate([{name}, {other}])",
            f"np.stack([{name}, {name}], axis={axis})",
            f"np.vstack([{name}, {name}])",
            f"np.hstack([{name}, {name}])",
        )
    )


def products(writer: Writer) -> str:
    name, value = writer.of_kind("fi", 1, 4000)
    inner = value.shape[-1]
    other = writer.name(lambda v: 1 <= len(v.shape) <= 2 and v.shape[0] == inner and kind_of(v) in "fi")
    forms = [f"np.tanh({name}) @ np.tanh({other})", f"np.dot(np.tanh({name}), np.tanh({other}))"]
    if len(value.shape) == 3:
        forms.append(f"np.einsum('abc,dbc->ad', np.tanh({name}), np.tanh({name}))")
    if len(value.shape) == 2:
        forms += [f"np.outer({name}[0], {name}[:, 0])", f"np.tensordot({name}, {name}, axes=([1], [1]))"]
        forms += [f"np.trace({name})", f"np.linalg.norm({name})", f"np.cov({name})"]
        if inner < 20 and kind_of(value) == "f":
            forms.append(f"np.linalg.solve({name}.T @ {name} + 10*np.eye({inner}, dtype=np.float32), {name}.T)")
    return writer.rng.choice(forms)


def places(writer: Writer) -> str:
    name, value = writer.of_kind("fib", 1)
    axis, rank = writer.axis(value), len(value.shape)
    most = max(1, 40_000 * value.shape[axis] // size_of(value))
    number, _ = writer.of_kind("i", 0, min(1000, most))
    index = f"np.abs({number}) % {value.shape[axis]}"
    before = ":, " * (axis % rank)
    return writer.rng.choice((f"np.take({name}, {index}, axis={axis})", f"{name}[{before}{index}]"))


def rows(writer: Writer) -> str:
    name, value = writer.of_kind("f", 2)
    if len(value.shape) != 2:
        raise IndexError("rows of a matrix")
    shares = f"np.exp({name} - {name}.max(axis=1, keepdims=True))"
    return writer.rng.choice(
        (
            f"({name} - {name}.mean(axis=0)) / ({name}.std(axis=0) + 1)",
            f"{shares} / {shares}.sum(axis=1, keepdims=True)",
        )
    )


FAMILIES: tuple[Family, ...] = (
    *(functions, functions, functions, pairs, pairs, reductions, reductions, running, orders, shapes, shapes, shapes),
    *(joins, products, places, places, rows),
)
