"""The derivatives that JAX has for functions of its own and of users, as functions of the program beside theirs."""

import functools
import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import jax
from jax.extend.core import primitives
from jax.interpreters import mlir

from ipu_mlir.passes.importing.stablehlo.program_call import PREFIX

_WITH_DERIVATIVES = (
    primitives.custom_jvp_call_p,
    primitives.custom_vjp_call_p,
    primitives.erf_inv_p,
    primitives.igamma_p,
    primitives.igammac_p,
    primitives.random_gamma_p,
    primitives.regularized_incomplete_beta_p,
)
"""Those of users, and functions whose code is a loop that nothing limits, or divides by zero where it is not taken."""


_LEVELS = 2
"""That derivatives of second order are of the rules too; those of higher order are of the code of the rules."""


def derivative_rules(levels: int = _LEVELS) -> list[tuple[Any, Callable[..., Any]]]:
    """Lowering rules for programs that carry derivatives, and those of the code of these, to so many ``levels``."""
    return [(each, functools.partial(_lowered, levels)) for each in _WITH_DERIVATIVES] if levels else []


def _lowered(levels: int, context: Any, *operands: Any, **params: Any) -> Any:
    """A call of what has a derivative as ``ipu.derivative`` of three functions: itself, forward and backward."""
    call = _Call(context, params)
    is_code = not any(call.takes) or not any(call.gives) or context.tokens_in.effects()
    traced = None if is_code else call.derivative(is_asked=levels == _LEVELS)
    if traced is None:
        own = context.replace(module_context=call.module_with(0))
        return mlir.lower_fun(call.bound, multiple_results=True)(own, *operands)
    forward, backward = traced
    names = [
        call.lowered(call.traced(call.plain, call.operands), "plain", 0),
        call.lowered(forward, "forward", levels - 1),
        call.lowered(backward, "backward", levels - 1),
    ]
    types = [kind for aval in call.results for kind in mlir.aval_to_ir_types(context.module_context, aval)]
    operands = mlir.lower_fun(lambda *values: list(map(_parts, values)), multiple_results=True)(
        context.replace(), *operands
    )
    made = mlir.ir.Operation.create(
        "stablehlo.custom_call",
        results=types,
        operands=[value for each in operands for value in (each if isinstance(each, tuple) else (each,))],
        attributes={
            "call_target_name": mlir.ir.StringAttr.get(f"{PREFIX}derivative"),
            "backend_config": mlir.ir.StringAttr.get(json.dumps({"without": call.without})),
            "called_computations": mlir.ir.ArrayAttr.get([mlir.ir.FlatSymbolRefAttr.get(name) for name in names]),
        },
    )
    whole = mlir.lower_fun(call.whole_results, multiple_results=True)
    return whole(context.replace(avals_in=call.results), *made.results)


class _Call:
    """A call of what has a derivative, as one on the parts of complex numbers: what it pulls back is then plain.

    Attributes:
        operands, results: what they are made of.
        takes, gives: for each operand, and for each result, whether it is of floats.
        without: the operands of floats by which there is no derivative.
        kept: what the backward function needs of the forward one.
    """

    def __init__(self, context: Any, params: dict[str, Any]) -> None:
        self._context, self._params = context, params
        self.operands, self.results = (
            list(map(_aval_of_parts, avals)) for avals in (context.avals_in, context.avals_out)
        )
        self.takes, self.gives = (
            [jax.dtypes.issubdtype(aval.dtype, jax.numpy.floating) for aval in avals]
            for avals in (self.operands, self.results)
        )
        self.kept: list[Any] = []
        self._pull: Any = None
        first = params.get("num_consts", 0)  # by which JAX refuses to differentiate, as by the first ones of a beta
        if context.primitive is primitives.regularized_incomplete_beta_p:
            first = 2
        self._by = [is_float and place >= first for place, is_float in enumerate(self.takes)]
        self.without = [place for place, is_float in enumerate(self.takes) if is_float and place < first]

    def whole_results(self, *values: Any) -> list[Any]:
        """The results, from their parts."""
        return _wholes(values, self._context.avals_out)

    def plain(self, *values: Any) -> Sequence[Any]:
        """What it computes."""
        return list(map(_parts, self.bound(*_wholes(values, self._context.avals_in))))

    def bound(self, *values: Any) -> Sequence[Any]:
        """What it computes of complex numbers."""
        primitive = self._context.primitive
        found = primitive.bind(*values, **primitive.get_bind_params(self._params))
        return found if primitive.multiple_results else [found]

    def forward(self, *values: Any) -> Sequence[Any]:
        """The same, and behind it what the backward function needs."""
        results, pull = self._pulled(values)
        kept, self._pull = jax.tree.flatten(pull)
        return [*results, *kept]

    def forward_alone(self, *values: Any) -> Sequence[Any]:
        """The same where the backward function begins again with the operands."""
        return [*self.plain(*values), *values]

    def _pulled(self, values: Sequence[Any]) -> tuple[list[Any], Any]:
        mine, others = _parted(self._by, values)

        def of_floats(*floats: Any) -> Any:
            return _parted(self.gives, self.plain(*_merged(self._by, floats, others)))

        found, pull, rest = jax.vjp(of_floats, *mine, has_aux=True)
        return _merged(self.gives, found, rest), pull

    def backward(self, *values: Any) -> Sequence[Any]:
        """From that, and a cotangent for each result that is of floats, those of the operands that are.

        Of an operand by which JAX has no derivative, it is no number, and nobody may ask for it.
        """
        kept, slopes = values[: len(self.kept)], values[len(self.kept) :]
        pull = self._pulled(kept)[1] if self._pull is None else jax.tree.unflatten(self._pull, kept)
        found = iter(pull(tuple(slopes)))
        operands = zip(self.operands, self.takes, self._by, strict=True)
        return [
            next(found) if has else jax.numpy.full(aval.shape, jax.numpy.nan, aval.dtype)
            for aval, is_float, has in operands
            if is_float
        ]

    def derivative(self, is_asked: bool) -> tuple[Any, Any] | None:
        """The forward and the backward function, traced; None where JAX cannot, unless it must, as it ``is_asked``."""
        try:
            return self._derivative()
        except Exception:  # whatever a rule of the user raises, where only gradients of its gradient need it
            if is_asked:
                raise
            return None

    def _derivative(self) -> tuple[Any, Any] | None:
        for function in (self.forward, self.forward_alone):
            self._pull = None
            forward = self.traced(function, self.operands)
            self.kept = list(forward.out_avals)[len(self.gives) :]
            slopes = _parted(self.gives, self.results)[0]
            backward = self.traced(self.backward, [*self.kept, *slopes])
            if not any(isinstance(each, jax.core.Tracer) for each in (*forward.consts, *backward.consts)):
                return forward, backward
        return None  # a rule that uses values of a trace that has ended

    def traced(self, function: Callable[..., Sequence[Any]], avals: Sequence[Any]) -> Any:
        """``function`` of tensors as a program of JAX."""
        specs = [jax.ShapeDtypeStruct(aval.shape, aval.dtype) for aval in avals]
        return jax.make_jaxpr(lambda *values: list(function(*values)))(*specs)

    def lowered(self, traced: Any, name: str, levels: int) -> str:
        """The name of a new function of the module, which carries derivatives to so many ``levels``."""
        module, name = self.module_with(levels), f"{self._context.primitive.name}_{name}"
        return mlir.lower_jaxpr_to_fun(module, name, traced, [], num_const_args=0, in_avals=traced.in_avals).name.value

    def module_with(self, levels: int) -> Any:
        """The module, for code that carries derivatives to so many ``levels``."""
        module = self._context.module_context
        rules = [
            each for each in module.lowering_parameters.override_lowering_rules if each[0] not in _WITH_DERIVATIVES
        ]
        own = replace(module.lowering_parameters, override_lowering_rules=(*rules, *derivative_rules(levels)))
        return module.replace(lowering_parameters=own, lowering_cache={}, cached_primitive_lowerings={})


def _is_complex(value: Any) -> bool:
    return jax.dtypes.issubdtype(value.dtype, jax.numpy.complexfloating)


def _parts(value: Any) -> Any:
    """Complex numbers as pairs of reals, in a last dimension."""
    return jax.numpy.stack((value.real, value.imag), -1) if _is_complex(value) else value


def _aval_of_parts(aval: Any) -> Any:
    if not _is_complex(aval):
        return aval
    return aval.update(shape=(*aval.shape, 2), dtype=jax.numpy.finfo(aval.dtype).dtype)


def _wholes(values: Sequence[Any], avals: Sequence[Any]) -> list[Any]:
    """Of pairs the complex numbers, where ``avals`` are."""
    pairs = zip(values, avals, strict=True)
    return [jax.lax.complex(each[..., 0], each[..., 1]) if _is_complex(aval) else each for each, aval in pairs]


def _parted(are_first: Sequence[bool], values: Sequence[Any]) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    pairs = list(zip(are_first, values, strict=True))
    return tuple(x for is_first, x in pairs if is_first), tuple(x for is_first, x in pairs if not is_first)


def _merged(are_first: Sequence[bool], first: Sequence[Any], others: Sequence[Any]) -> list[Any]:
    one, other = iter(first), iter(others)
    return [next(one) if is_first else next(other) for is_first in are_first]
