"""``jacrev``, ``jacfwd`` and ``hessian``: derivatives of every element of a result by every element of an argument."""

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ipu_mlir.specs.specs import TensorSpec
from ipu_mlir.tracing.batching.vmap import vmap
from ipu_mlir.tracing.control.bodies import spec_of_leaf, tree
from ipu_mlir.tracing.control.gradients import grad, jvp, vjp
from ipu_mlir.tracing.errors import TraceTypeError, TraceValueError
from ipu_mlir.tracing.trees import tree_map

Numbers = int | Sequence[int]


def jacrev(fun: Callable[..., Any], argnums: Numbers = 0) -> Callable[..., Any]:
    """The Jacobian of ``fun``, by a reverse pass for each element of its result.

        slopes = ipu.jacrev(np.tanh)(x)

    Returns:
        a function of the same arguments. For a result of shape ``s`` it gives for each tensor of shape ``t`` of the
        argument one of shape ``(*s, *t)``, nested as the argument; a tuple of these if ``argnums`` is one.

    Raises:
        TypeError: ``fun`` gives more than one tensor.
    """

    @functools.wraps(fun)
    def jacobian(*args: Any, **kwargs: Any) -> Any:
        of_some, some = _by_some(fun, argnums, args, kwargs)
        result, back = vjp(of_some, *some)
        spec = _only(result, f"jacrev of {_name(fun)}, whose result")
        rows = vmap(back)(_basis(spec))
        found = tree_map(lambda each: np.reshape(each, (*spec.shape, *each.shape[1:])), rows)
        return found[0] if isinstance(argnums, int) else found

    return jacobian


def jacfwd(fun: Callable[..., Any], argnums: Numbers = 0) -> Callable[..., Any]:
    """As ``jacrev``, by a tangent for each element of an argument, which is one tensor; the result may be nested."""

    @functools.wraps(fun)
    def jacobian(*args: Any, **kwargs: Any) -> Any:
        of_some, some = _by_some(fun, argnums, args, kwargs)
        found = [_by_tangents(fun, of_some, some, number) for number in range(len(some))]
        return found[0] if isinstance(argnums, int) else tuple(found)

    return jacobian


def _by_tangents(fun: Any, of_some: Callable[..., Any], some: Sequence[Any], number: int) -> Any:
    spec = _only(some[number], f"jacfwd of {_name(fun)}, whose argument")

    def alone(x: Any) -> Any:
        return of_some(*some[:number], x, *some[number + 1 :])

    columns = vmap(lambda tangent: jvp(alone, (some[number],), (tangent,))[1])(_basis(spec))
    return tree_map(lambda each: np.reshape(np.moveaxis(each, 0, -1), (*each.shape[1:], *spec.shape)), columns)


def hessian(fun: Callable[..., Any], argnums: int = 0) -> Callable[..., Any]:
    """The second derivatives of ``fun``, which gives one float, by an argument that is one tensor."""
    return jacrev(grad(fun, argnums), argnums)


def _by_some(
    fun: Callable[..., Any], argnums: Numbers, args: Sequence[Any], kwargs: Any
) -> tuple[Callable[..., Any], list[Any]]:
    """``fun`` as a function of some of its arguments, and these."""
    places = [argnums] if isinstance(argnums, int) else list(argnums)
    if any(not -len(args) <= each < len(args) for each in places):
        raise TraceValueError(f"argnums={argnums} of a call with {len(args)} arguments; count from 0")
    places = [each % len(args) for each in places]

    def of_some(*some: Any) -> Any:
        whole = list(args)
        for place, each in zip(places, some, strict=True):
            whole[place] = each
        return fun(*whole, **kwargs)

    return of_some, [args[place] for place in places]


def _only(x: Any, what: str) -> TensorSpec:
    leaves = tree(x, what).leaves
    if len(leaves) != 1 or leaves[0] is not x:
        raise TraceTypeError(f"{what} is not one tensor; take the parts one by one")
    spec = spec_of_leaf(x)
    if spec.dtype.kind == "c":
        raise TraceTypeError(f"{what} is {spec}; take its real and its imaginary part, which have slopes of their own")
    return spec


def _basis(spec: TensorSpec) -> np.ndarray:
    """For each element of a tensor one that is 1 there, and else 0."""
    size = int(np.prod(spec.shape))
    return np.eye(size, dtype=spec.dtype).reshape(size, *spec.shape)


def _name(fun: Any) -> str:
    return getattr(fun, "__name__", repr(fun))
