"""``grad``, ``value_and_grad``, ``vjp``, ``jvp`` and ``stop_gradient``: derivatives of traced functions.

The function becomes one of the program, and its gradient a declaration beside it whose code ``ipu-autodiff`` makes.
"""

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ipu_mlir.dialects.ipu import StopGradientOp
from ipu_mlir.dialects.support.bindings import ir, upstream
from ipu_mlir.specs.specs import TensorSpec
from ipu_mlir.specs.tensor_types import is_made_of_floats, kind_of
from ipu_mlir.tracing.control.bodies import Tree, is_weak, spec_of_leaf, tree, values_of
from ipu_mlir.tracing.control.private_functions import new_name, private_function
from ipu_mlir.tracing.elementwise import conjugated
from ipu_mlir.tracing.errors import TraceTypeError, TraceValueError
from ipu_mlir.tracing.graph import Trace, own_trace
from ipu_mlir.tracing.operands import tensor

func = upstream("func")


def value_and_grad(
    fun: Callable[..., Any], argnums: int | Sequence[int] = 0, has_aux: bool = False
) -> Callable[..., tuple[Any, Any]]:
    """A function that gives what ``fun`` gives, and its gradient.

        loss, (dw, db) = ipu.value_and_grad(loss_of, argnums=(0, 1))(w, b, x, y)

    Args:
        fun: takes tensors, nested as they like; gives one float, a tensor of shape ().
        argnums: the numbers of the arguments by which it is differentiated; their tensors are floats.
        has_aux: ``fun`` gives a pair, and only the first of it is differentiated.

    Returns:
        a function of the same arguments that gives the pair of the value and the gradient: nested as the argument,
        each leaf of its shape and type; a tuple of them if ``argnums`` is one. By ``x + iy`` it is the derivative by
        ``x`` less ``i`` times that by ``y``, as in JAX: a step of descent takes its conjugate.

    Raises:
        TypeError, ValueError: ``fun`` gives anything but one float, or an argument has tensors of integers.
    """
    numbers = (argnums,) if isinstance(argnums, int) else tuple(argnums)

    @functools.wraps(fun)
    def differentiated(*args: Any, **kwargs: Any) -> tuple[Any, Any]:
        trace = own_trace()
        if trace is None:
            raise TraceValueError(_OUTSIDE)
        places = [each + len(args) if each < 0 else each for each in numbers]
        if any(not 0 <= each < len(args) for each in places):
            raise TraceValueError(f"argnums={argnums} of a call with {len(args)} arguments; count from 0")
        called = _Called(trace, fun, args, kwargs, places, has_aux=has_aux)
        given = called.specs[: called.differentiated]
        if len(given) != 1 or given[0].shape or kind_of(given[0].dtype) != "f":
            shown = ", ".join(map(str, given))
            raise TraceTypeError(f"grad of {_name(fun)}, which gives {shown or 'nothing'}; it has to give one float")
        specs = called.differentiable
        cotangents = [tensor(trace, float(place == 0), spec.dtype) for place, spec in enumerate(specs)]
        filled = [
            each if not spec.shape else np.zeros(spec.shape, spec.dtype)
            for each, spec in zip(cotangents, specs, strict=True)
        ]
        values, gradients = called.run(values_of(trace, filled, specs))
        nested = [called.nested(place, gradients) for place in places]
        returned = called.result.nested(values)
        return returned, nested[0] if isinstance(argnums, int) else tuple(nested)

    return differentiated


def grad(fun: Callable[..., Any], argnums: int | Sequence[int] = 0, has_aux: bool = False) -> Callable[..., Any]:
    """As ``value_and_grad``, but the gradient alone; with ``has_aux`` a pair of the gradient and the rest."""
    both = value_and_grad(fun, argnums, has_aux)

    @functools.wraps(fun)
    def differentiated(*args: Any, **kwargs: Any) -> Any:
        value, gradient = both(*args, **kwargs)
        return (gradient, value[1]) if has_aux else gradient

    return differentiated


def vjp(fun: Callable[..., Any], *primals: Any) -> tuple[Any, Callable[[Any], tuple[Any, ...]]]:
    """What ``fun`` gives for ``primals``, and a function from cotangents of that to cotangents of the primals.

        y, back = ipu.vjp(np.tanh, x)
        (dx,) = back(dy)

    Cotangents are nested as the result; where that has integers, any number may be given. Primals of integers have no
    cotangent: None.

    Raises:
        TypeError, ValueError: the cotangents are of another nesting, shape or type.
    """
    trace = own_trace()
    if trace is None:
        raise TraceValueError(_OUTSIDE)
    called = _Called(trace, fun, primals, {}, range(len(primals)), only_floats=True)
    first = called.call()

    def back(cotangents: Any) -> tuple[Any, ...]:
        return called.pulled(cotangents)[1]

    return called.result.nested(first), back


def jvp(fun: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
    """What ``fun`` gives for ``primals``, and how that changes if the primals move by ``tangents``.

        y, dy = ipu.jvp(np.sin, (x,), (dx,))

    The derivative of a cotangent by that of the result is the tangent. It takes two reverse passes, of which what the
    tangent does not need is left out: a forward pass remains.

    Raises:
        TypeError, ValueError: tangents that are no floats of the shapes of the primals.
    """
    trace = own_trace()
    if trace is None:
        raise TraceValueError(_OUTSIDE)
    given = tree(tuple(tangents), "tangent")

    def both(cotangents: Any) -> Any:
        inner = own_trace()
        assert inner is not None, "it is traced"
        return _Called(inner, fun, primals, {}, range(len(primals)), only_floats=True).pulled(cotangents)

    like = _Called(trace, fun, primals, {}, (), only_floats=True)
    none = like.result.nested([np.zeros(spec.shape, spec.dtype) for spec in like.specs])
    of_both = _Called(trace, both, (none,), {}, (0,), only_floats=True)
    (result, _), (moved,) = of_both.pulled((none, tuple(given.nested(given.leaves))))
    return result, moved


def stop_gradient(x: Any) -> Any:
    """``x``, nested as it likes, which gradients take for a constant."""
    return on_leaves("stop_gradient", lambda value: StopGradientOp(source=value, stopped=value.type).stopped, x)


def on_leaves(name: str, op: Callable[[ir.Value], ir.Value], x: Any) -> Any:
    """``x``, nested as it likes, with what ``op`` gives for each tensor; outside of traced functions ``x`` itself."""
    trace = own_trace()
    if trace is None:
        return x
    taken = tree(x, "value")
    specs = [spec_of_leaf(leaf) for leaf in taken.leaves]
    values = values_of(trace, taken.leaves, specs)
    with trace.emit(name):
        found = [op(value) for value in values]
        return taken.nested([trace.wrap(v, spec.shape, spec.dtype) for v, spec in zip(found, specs, strict=True)])


_OUTSIDE = "gradients are of traced functions; call this in a function that is compiled: @ipu.function, ipu.compile"


def _name(fun: Any) -> str:
    return getattr(fun, "__name__", repr(fun))


class _Called:
    """A function of the user's as one of the module, and its gradient.

    Attributes:
        result: the same as a tree.
        specs: of the leaves of the result.
        differentiable: those of them that are floats.
        differentiated: how many leaves there are besides those that ``has_aux`` leaves alone.
    """

    def __init__(
        self,
        trace: Trace,
        fun: Callable[..., Any],
        args: Sequence[Any],
        kwargs: dict[str, Any],
        places: Sequence[int],
        only_floats: bool = False,
        has_aux: bool = False,
    ) -> None:
        self._trace, self._fun = trace, fun
        self._taken = [tree(each, f"argument {place}") for place, each in enumerate(args)]
        named = tree(kwargs, "arguments")
        leaves = [leaf for each in (*self._taken, named) for leaf in each.leaves]
        self._specs = [spec_of_leaf(leaf) for leaf in leaves]
        self._by = self._numbers(places, only_floats)

        def give(symbols: list[Any]) -> Sequence[Any]:
            each = iter(symbols)
            own = [part.nested([next(each) for _ in part.leaves]) for part in self._taken]
            returned = fun(*own, **named.nested([next(each) for _ in named.leaves]))
            if has_aux and not (isinstance(returned, tuple) and len(returned) == 2):
                raise TraceTypeError(
                    f"has_aux: {_name(fun)} gives {returned!r}; return a pair: the value, and the rest"
                )
            self.result: Tree = tree(returned, "result")
            self.differentiated = len(tree(returned[0], "result").leaves) if has_aux else len(self.result.leaves)
            return self.result.leaves

        made = private_function(trace, _name(fun), self._specs, give)
        self._function, self.specs, self._types = made.name, made.specs, made.types
        self.differentiable = [spec for spec in self.specs if is_made_of_floats(spec.dtype)]
        self._operands = [*values_of(trace, leaves, self._specs), *made.captured]
        self._gradient: str | None = None

    def _numbers(self, places: Sequence[int], only_floats: bool) -> list[int]:
        """The numbers of the leaves by which is differentiated."""
        found, number = [], 0
        for place, part in enumerate(self._taken):
            for leaf, path in zip(part.leaves, part.paths, strict=True):
                spec = spec_of_leaf(leaf)
                if place in places and is_made_of_floats(spec.dtype):
                    found.append(number)
                elif place in places and not only_floats:
                    raise TraceTypeError(f"grad by {path}, which is {spec}; only floats have derivatives")
                number += 1
        return found

    def call(self) -> list[Any]:
        """The leaves of the result."""
        with self._trace.emit(_name(self._fun)):
            results = list(func.CallOp(self._types, self._function, self._operands).operation.results)
            return self._wrapped(results, self.specs)

    def run(self, cotangents: Sequence[ir.Value]) -> tuple[list[Any], dict[int, Any]]:
        """The leaves of the result, and cotangents by the number of the leaf."""
        by = [self._operands[number].type for number in self._by]
        types = [*self._types, *by]
        with self._trace.emit(_name(self._fun)):
            if self._gradient is None:
                self._gradient = new_name(self._trace.module, f"{self._function}_gradient")
                kinds = [value.type for value in (*self._operands, *cotangents)]
                with ir.InsertionPoint(self._trace.module.body):
                    made = func.FuncOp(self._gradient, (kinds, types), visibility="private")
                numbers = ir.DenseI64ArrayAttr.get(self._by)
                asked = {"of": ir.FlatSymbolRefAttr.get(self._function), "by": numbers}
                made.operation.attributes["ipu.gradient"] = ir.DictAttr.get(asked)
            call = func.CallOp(types, self._gradient, [*self._operands, *cotangents])
            results = list(call.operation.results)
            values = self._wrapped(results, self.specs)
            specs = [self._specs[number] for number in self._by]
            found = map(conjugated, self._wrapped(results[len(values) :], specs))
            return values, dict(zip(self._by, found, strict=True))

    def pulled(self, cotangents: Any) -> tuple[Any, tuple[Any, ...]]:
        """The result, and cotangents of the arguments by those of the result."""
        given = self.result.like(cotangents, "cotangent")
        floats = [leaf for leaf, spec in zip(given.leaves, self.specs, strict=True) if is_made_of_floats(spec.dtype)]
        for leaf, spec in zip(floats, self.differentiable, strict=True):
            if (not is_weak(leaf) and spec_of_leaf(leaf) != spec) or (is_weak(leaf) and spec.shape):
                raise TraceTypeError(
                    f"a cotangent is {spec_of_leaf(leaf)} for a result of {spec}; give one of that type"
                )
        floats = [leaf.conjugate() if isinstance(leaf, complex) else conjugated(leaf) for leaf in floats]
        values, gradients = self.run(values_of(self._trace, floats, self.differentiable))
        return self.result.nested(values), tuple(self.nested(place, gradients) for place in range(len(self._taken)))

    def _wrapped(self, values: Sequence[ir.Value], specs: Sequence[TensorSpec]) -> list[Any]:
        return [self._trace.wrap(value, spec.shape, spec.dtype) for value, spec in zip(values, specs, strict=False)]

    def nested(self, place: int, gradients: dict[int, Any]) -> Any:
        """The gradient by an argument, nested as it; None for what is no float."""
        first = sum(len(part.leaves) for part in self._taken[:place])
        part = self._taken[place]
        return part.nested([gradients.get(first + number) for number in range(len(part.leaves))])
