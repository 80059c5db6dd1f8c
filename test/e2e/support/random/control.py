"""Random control flow: loops and branches that carry tensors and scalars around random steps, some of them moves."""

from collections.abc import Sequence

import numpy as np
from hypothesis import strategies as st
from support.random.handed_views import small_shape, view_of
from support.random.moves import move_step
from support.random.scalars import clamped, condition, loaded, number, scalar, scalar_step
from support.random.slices import compute, slice_step
from support.random.steps import Scalar, Sketch, SteppedProgram, Tensor, Values, run

DEEPEST = 2
KINDS = ("compute", "compute", "slice", "scalar", "spread", "control")
VIEWING_KINDS = ("view", "view", "compute", "scalar", "control")
MOVING_KINDS = ("move", "move", "move", "compute", "slice", "control")
CARRIED_SCALARS = ("i32", "index", "f32")

Value = Tensor | Scalar


def spread_step(sketch: Sketch, tensor: Tensor) -> None:
    """A tensor full of a scalar."""
    source = scalar(sketch, tensor.element)
    result, name = Tensor(sketch.fresh(), tensor.shape, tensor.element), sketch.fresh()
    sketch.add(
        [result],
        f"  {name} = tensor.empty() : {result.type}\n  {result.name} = linalg.fill ins({source.name} : "
        f"{source.element}) outs({name} : {result.type}) -> {result.type}",
        lambda values: [np.full(result.shape, values[source.name])],
    )


def body(sketch: Sketch, wanted: Sequence[Value]) -> list[Value]:
    """One to three steps, and then a value of the type of each of ``wanted``."""
    for _ in range(sketch.integer(1, 3)):
        tensors = [value for value in wanted if isinstance(value, Tensor)]
        scalars = [value for value in wanted if isinstance(value, Scalar)]
        kind = sketch.pick(sketch.kinds)
        if kind == "control" and sketch.depth < DEEPEST:
            sketch.pick(CONTROL)(sketch)
        elif kind == "scalar" and scalars:
            scalar_step(sketch, sketch.pick(scalars).element)
        elif kind == "spread" and tensors and tensors[0].element in CARRIED_SCALARS:
            spread_step(sketch, tensors[0])
        elif kind == "slice":
            slice_step(sketch)
        elif kind == "move":
            move_step(sketch)
        elif kind == "view" and tensors:
            chosen = sketch.pick(tensors)
            view_of(sketch, chosen.shape, chosen.element)
        elif tensors:
            chosen = sketch.pick(tensors)
            compute(sketch, chosen.shape, chosen.element)
    return [_of_type(sketch, value) for value in wanted]


def _of_type(sketch: Sketch, like: Value) -> Value:
    if isinstance(like, Scalar):
        found: list[Value] = [each for each in sketch.scalars if each.element == like.element]
        return sketch.pick(found[::-1][:4]) if found else scalar(sketch, like.element)
    if sketch.kinds is VIEWING_KINDS and sketch.maybe():
        return view_of(sketch, like.shape, like.element)
    tensors = sketch.existing(like.shape, like.element)
    return sketch.pick(tensors[:4])


def carried(sketch: Sketch) -> list[Value]:
    """What a loop starts from."""
    if sketch.kinds is VIEWING_KINDS:
        return _small(sketch)
    shape = sketch.shape(1, 2, 5)
    starts: list[Value] = []
    for _ in range(sketch.integer(1, 3)):
        if starts and sketch.integer(0, 3) == 0:
            starts.append(scalar(sketch, sketch.pick(CARRIED_SCALARS)))
        else:
            starts.append(sketch.some(shape if sketch.maybe() else sketch.shape(0, 2, 5), sketch.pick(("f32", "i32"))))
    return starts


def _small(sketch: Sketch) -> list[Value]:
    """One to three small tensors, mostly of one type, so that they may change places."""
    first = view_of(sketch, small_shape(sketch), sketch.pick(("f32", "i32")))
    starts: list[Value] = [first]
    for _ in range(sketch.integer(0, 2)):
        kind = sketch.integer(0, 4)
        if kind == 0:
            starts.append(scalar(sketch, sketch.pick(CARRIED_SCALARS)))
        elif kind == 1:
            starts.append(view_of(sketch, small_shape(sketch), sketch.pick(("f32", "i32"))))
        else:
            starts.append(first if kind == 2 else view_of(sketch, first.shape, first.element))
    return starts


def _like(sketch: Sketch, values: Sequence[Value]) -> list[Value]:
    """New names of the same types; the sketch sees them."""
    made: list[Value] = []
    for value in values:
        name = sketch.fresh()
        if isinstance(value, Tensor):
            made.append(Tensor(name, value.shape, value.element))
            sketch.tensors.append(made[-1])  # type: ignore[arg-type]
        else:
            made.append(Scalar(name, value.element))
            sketch.scalars.append(made[-1])  # type: ignore[arg-type]
    return made


def _names(values: Sequence[Value]) -> str:
    return ", ".join(value.name for value in values)


def _types(values: Sequence[Value]) -> str:
    return ", ".join(value.type for value in values)


def _results(sketch: Sketch, like: Sequence[Value]) -> tuple[str, list[Value]]:
    """The names that an op of several results defines, and its results."""
    name = sketch.fresh()
    names = [name] if len(like) == 1 else [f"{name}#{place}" for place in range(len(like))]
    made: list[Value] = [
        Tensor(each, value.shape, value.element) if isinstance(value, Tensor) else Scalar(each, value.element)
        for each, value in zip(names, like, strict=True)
    ]
    return (name if len(like) == 1 else f"{name}:{len(like)}"), made


def _lines(sketch: Sketch) -> str:
    return "\n".join(step.text for step in sketch.steps)


def _run(inner: Sketch, values: Values, bound: Sequence[Value], given: Sequence[np.ndarray], wanted: Sequence[Value]):
    """What a block gives, run on a copy of the values around it."""
    local = dict(values)
    local.update({value.name: array for value, array in zip(bound, given, strict=True)})
    run(inner.steps, local)
    return [local[value.name] for value in wanted]


def for_loop(sketch: Sketch) -> None:
    """A counter of type index or i32, and an end that may be loaded."""
    starts, element = carried(sketch), sketch.pick(("index", "index", "i32"))
    low, step, trips = sketch.integer(0, 2), sketch.integer(1, 2), sketch.integer(0, 4)
    first, by = number(sketch, low, element), number(sketch, step, element)
    if element == "index" and sketch.maybe():
        end = clamped(sketch, loaded(sketch, "i32", -1, 5), 5)
    else:
        end = number(sketch, low + step * trips, element)
    inner = sketch.inside()
    counter = Scalar(sketch.fresh(), element)
    inner.scalars.append(counter)
    bound = _like(inner, starts)
    wanted = body(inner, bound)
    name, results = _results(sketch, starts)
    inits = ", ".join(f"{value.name} = {start.name}" for value, start in zip(bound, starts, strict=True))
    kind = "" if element == "index" else f" : {element}"
    text = (
        f"  {name} = scf.for {counter.name} = {first.name} to {end.name} step {by.name} iter_args({inits}) -> "
        f"({_types(starts)}) {kind} {{\n{_lines(inner)}\n  scf.yield {_names(wanted)} : {_types(wanted)}\n  }}"
    )

    def evaluate(values: Values) -> list[np.ndarray]:
        found = [values[start.name] for start in starts]
        for at in range(int(values[first.name]), int(values[end.name]), int(values[by.name])):
            count = np.asarray(at, values[first.name].dtype)
            found = _run(inner, values, [counter, *bound], [count, *found], wanted)
        return found

    sketch.add(results, text, evaluate)


def while_loop(sketch: Sketch) -> None:
    """At most four times round, and fewer where the data say so."""
    counter_start = number(sketch, sketch.integer(0, 2), "i32")
    limit = number(sketch, sketch.integer(0, 4), "i32")
    starts: list[Value] = [counter_start, *carried(sketch)]
    before, after = sketch.inside(), sketch.inside()
    bound = _like(before, starts)
    test = Scalar(sketch.fresh(), "i1")
    counter = bound[0]
    before.add(
        [test],
        f"  {test.name} = arith.cmpi slt, {counter.name}, {limit.name} : i32",
        lambda values: [values[counter.name] < values[limit.name]],
    )
    if sketch.maybe():
        test = _both(before, test, condition(before))
    handed: list[Value] = [counter, *(body(before, bound[1:]) if sketch.maybe() else bound[1:])]
    inside = _like(after, starts)
    more = _like(Sketch(sketch.draw, after), [counter])[0]
    one = number(after, 1, "i32")
    assert isinstance(more, Scalar)
    after.add(
        [more],
        f"  {more.name} = arith.addi {inside[0].name}, {one.name} : i32",
        lambda values: [values[inside[0].name] + values[one.name]],
    )
    wanted = [more, *body(after, inside[1:])]
    name, results = _results(sketch, starts)
    inits = ", ".join(f"{value.name} = {start.name}" for value, start in zip(bound, starts, strict=True))
    arguments = ", ".join(f"{value.name}: {value.type}" for value in inside)
    types = _types(starts)
    text = (
        f"  {name} = scf.while ({inits}) : ({types}) -> ({types}) {{\n{_lines(before)}\n"
        f"  scf.condition({test.name}) {_names(handed)} : {types}\n  }} do {{\n  ^bb0({arguments}):\n{_lines(after)}\n"
        f"  scf.yield {_names(wanted)} : {types}\n  }}"
    )

    def evaluate(values: Values) -> list[np.ndarray]:
        given = [values[start.name] for start in starts]
        while True:
            goes_on, *found = _run(before, values, bound, given, [test, *handed])
            if not goes_on:
                return found
            given = _run(after, values, inside, found, wanted)

    sketch.add(results, text, evaluate)


def _both(sketch: Sketch, one: Scalar, other: Scalar) -> Scalar:
    result = Scalar(sketch.fresh(), "i1")
    text = f"  {result.name} = arith.andi {one.name}, {other.name} : i1"
    sketch.add([result], text, lambda values: [values[one.name] & values[other.name]])
    return result


def branch(sketch: Sketch) -> None:
    like, test = carried(sketch), condition(sketch)
    blocks = [sketch.inside() for _ in range(2)]
    wanted = [body(block, like) for block in blocks]
    name, results = _results(sketch, like)
    yes, no = (
        f"{_lines(block)}\n  scf.yield {_names(values)} : {_types(values)}\n  }}"
        for block, values in zip(blocks, wanted, strict=True)
    )

    def evaluate(values: Values) -> list[np.ndarray]:
        taken = 0 if values[test.name] else 1
        return _run(blocks[taken], values, [], [], wanted[taken])

    sketch.add(results, f"  {name} = scf.if {test.name} -> ({_types(like)}) {{\n{yes} else {{\n{no}", evaluate)


def switch(sketch: Sketch) -> None:
    like, selector = carried(sketch), scalar(sketch, "index")
    most = sketch.pick((3, 3, 3, 7))  # more than four are halved
    cases = sketch.draw(st.lists(st.integers(-1, most), min_size=1, max_size=most, unique=True))
    blocks = [sketch.inside() for _ in range(len(cases) + 1)]
    wanted = [body(block, like) for block in blocks]
    name, results = _results(sketch, like)
    texts = [
        f"{{\n{_lines(block)}\n  scf.yield {_names(values)} : {_types(values)}\n  }}"
        for block, values in zip(blocks, wanted, strict=True)
    ]
    arms = "".join(f"  case {case} {text}\n" for case, text in zip(cases, texts, strict=False))

    def evaluate(values: Values) -> list[np.ndarray]:
        at = int(values[selector.name])
        taken = cases.index(at) if at in cases else len(cases)
        return _run(blocks[taken], values, [], [], wanted[taken])

    text = f"  {name} = scf.index_switch {selector.name} -> {_types(like)}\n{arms}  default {texts[-1]}"
    sketch.add(results, text, evaluate)


CONTROL = (for_loop, for_loop, while_loop, branch, switch)


@st.composite
def control_flow(draw: st.DrawFn, kinds: Sequence[str] = KINDS) -> SteppedProgram:
    """One or two loops or branches, and those inside them."""
    sketch = Sketch(draw)
    sketch.kinds = kinds
    for _ in range(draw(st.integers(1, 2))):
        draw(st.sampled_from(CONTROL))(sketch)
    return sketch.program()
