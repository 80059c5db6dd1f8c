"""Scalars of random programs: constants, elements that are loaded, and arithmetic on them."""

import numpy as np
from support.random.steps import Scalar, Sketch
from support.tensor_text import DTYPES, constant


def loaded(sketch: Sketch, element: str, low: int, high: int) -> Scalar:
    """An element of an argument of rank 0 or 1."""
    shape = (3,) if sketch.maybe() else ()
    source = sketch.argument(shape, element, low, high)
    at, name = (sketch.integer(0, 2),) * len(shape), sketch.fresh()
    result = Scalar(name, element)
    before = f"  {name}i = arith.constant {at[0]} : index\n" if at else ""
    text = f"{before}  {name} = tensor.extract {source.name}[{f'{name}i' if at else ''}] : {source.type}"
    sketch.add([result], text, lambda values: [values[source.name][at]])
    return result


def clamped(sketch: Sketch, source: Scalar, last: int) -> Scalar:
    """``source`` as an index from 0 to ``last``."""
    name, element = sketch.fresh(), source.element
    lines = [
        f"{name}a = arith.constant 0 : {element}",
        f"{name}b = arith.constant {last} : {element}",
        f"{name}c = arith.maxsi {source.name}, {name}a : {element}",
        f"{name}d = arith.minsi {name}c, {name}b : {element}",
    ]
    result = Scalar(f"{name}e" if element != "index" else f"{name}d", "index")
    lines += [f"{name}e = arith.index_cast {name}d : {element} to index"] if element != "index" else []
    text = "\n".join(f"  {line}" for line in lines)
    sketch.add([result], text, lambda values: [np.clip(values[source.name], 0, last).astype(np.int64)])
    return result


def number(sketch: Sketch, value: int, element: str = "index") -> Scalar:
    """A constant."""
    result = Scalar(sketch.fresh(), element)
    text = f"{value}.0" if element.startswith("f") else str(value)
    line = f"  {result.name} = {constant(text, element)}"
    sketch.add([result], line, lambda _: [np.asarray(value, DTYPES[element])])
    return result


def scalar(sketch: Sketch, element: str) -> Scalar:
    """One that exists, one that is loaded, or a constant."""
    found = [each for each in sketch.scalars if each.element == element]
    if found and sketch.integer(0, 2):
        return sketch.pick(found[::-1])
    return loaded(sketch, element, -3, 3) if sketch.maybe() else number(sketch, sketch.integer(-2, 2), element)


def condition(sketch: Sketch) -> Scalar:
    """A truth value: loaded, or a comparison of scalars."""
    if sketch.maybe():
        return loaded(sketch, "i1", 0, 1)
    element = sketch.pick(("i32", "index"))
    one, other = scalar(sketch, element), scalar(sketch, element)
    result = Scalar(sketch.fresh(), "i1")
    text = f"  {result.name} = arith.cmpi sle, {one.name}, {other.name} : {element}"
    sketch.add([result], text, lambda values: [values[one.name] <= values[other.name]])
    return result


def scalar_step(sketch: Sketch, element: str) -> Scalar:
    """Arithmetic on scalars, or an element of a tensor."""
    sources = [each for each in sketch.tensors if each.element == element and each.shape and 0 not in each.shape]
    result = Scalar(sketch.fresh(), element)
    if sources and sketch.maybe():
        source = sketch.pick(sources[::-1])
        places = [clamped(sketch, scalar(sketch, "index"), size - 1) for size in source.shape]
        at = ", ".join(place.name for place in places)
        text = f"  {result.name} = tensor.extract {source.name}[{at}] : {source.type}"
        sketch.add([result], text, lambda v: [v[source.name][tuple(int(v[place.name]) for place in places)]])
        return result
    one, other = scalar(sketch, element), scalar(sketch, element)
    op, ufunc = sketch.pick((("add", np.add), ("sub", np.subtract)))
    kind = "f" if element.startswith("f") else "i"
    text = f"  {result.name} = arith.{op}{kind} {one.name}, {other.name} : {element}"
    sketch.add([result], text, lambda values: [ufunc(values[one.name], values[other.name])])
    return result
