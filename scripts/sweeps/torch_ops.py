"""Run the ops of PyTorch on the samples that its own tests have of them, and models written out.

python scripts/sweeps/torch_ops.py results.jsonl         needs the package expecttest, as PyTorch's tests do
"""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from typing import Any

import torch
from outcomes import TARGET, Case, NotTaken, run_all
from torch.testing._internal.common_methods_invocations import op_db
from torch.utils import _pytree as pytree
from torch_models import model_cases
from torch_modules import module_cases

import ipu_mlir as ipu

HEAD = f"""Written by `scripts/sweeps/torch_ops.py` with torch {torch.__version__}: of each op up to nine of the
samples that the tests of PyTorch have of it (`torch.testing`), five in float32 and two in int32 and bool, three
gradients (`torch.autograd.grad` in the program), of each module up to two of the inputs that they have of it, and
models written out, forward and after ten steps of Adam, compared with what PyTorch gives. *Not imported* is what
PyTorch does not trace or export, or what has no rule. What draws random numbers is left out."""

_TYPES = (torch.float32, torch.int32, torch.bool)
_OF_ROUNDING = ("native_layer_norm", "logcumsumexp")
"""Gradients that are rounding: of a sample normalised over one element, and of one that PyTorch has to three digits."""
_OF_TIES = ("kthvalue", "mode", "topk", "sort")
"""Which one of several equal numbers a sample's second result is at is not said."""
_OF_ANY_VALUES = ("empty", "empty_like", "empty_permuted", "empty_strided", "new_empty", "new_empty_strided")
_DRAWS = "wrapper_set_seed"
"""What the samples of ops call that draw random numbers, from a state that is set anew for each call."""
_MOST = 20_000
"""Elements of a sample: larger ones say nothing more."""


def cases() -> list[Case]:
    """Of every op samples in float32, int32 and bool, and gradients; modules, and models."""
    ops = [case for op in op_db for case in _cases_of(op)]
    return [*ops, *module_cases(_run, gradient, _arrays), *model_cases()]


def constant_cases() -> list[Case]:
    """Of every op the first sample, that in the middle and the last one in each type, on constants but for a zero."""
    found = []
    for op in op_db:
        name = op.name + (f".{op.variant_test_name}" if op.variant_test_name else "")
        for kind, share in product(_TYPES, (0.0, 0.5, 1.0)):
            if kind in op.dtypes:
                run = partial(_both, op, kind, False, (share,), on_constants=True)
                found.append(Case(f"{name}  {share} in {str(kind)[6:]}", name, "", run))
    return found


def _cases_of(op: Any) -> Iterator[Case]:
    name = op.name + (f".{op.variant_test_name}" if op.variant_test_name else "")
    kinds = [kind for kind in _TYPES if kind in op.dtypes]
    module = next((f"torch.{head}" for head in _HEADS if name.startswith(head)), "torch")
    for kind in kinds:
        shares = _SHARES if kind == kinds[0] else _SHARES[:2]
        for place, share in enumerate(shares):
            of_all = "" if place == 0 else f"  {share}"
            title = f"{name}{of_all}" if kind == torch.float32 else f"{name}{of_all}  in {str(kind)[6:]}"
            yield Case(title, name, module, partial(_both, op, kind, False, shares[: place + 1]))
            if kind == torch.float32 and op.supports_autograd and place < 3:
                run = partial(_both, op, kind, True, shares[: place + 1])
                yield Case(f"{title}  gradient", name, "gradients", run, 5, True)


_SHARES = (0.5, 0.0, 1.0, 0.25, 0.75)
"""Where samples stand that are taken, in the list of all of them; the first ones are those taken most."""
_HEADS = ("nn.functional", "linalg", "fft", "signal", "special", "masked", "sparse")


def _both(
    op: Any, kind: torch.dtype, is_gradient: bool, shares: tuple[float, ...], on_constants: bool = False
) -> tuple[list[Any], list[Any]]:
    """Results of the sample at the last one of ``shares``, unless one before is of the same sample."""
    torch.manual_seed(0)
    samples = list(op.sample_inputs("cpu", kind, requires_grad=is_gradient))
    samples = [each for each in samples if _size(each) <= _MOST]
    if not samples:
        raise NotTaken("no small sample")
    *before, place = (min(int(len(samples) * share), len(samples) - 1) for share in shares)
    if place in before:
        raise NotTaken("another case has this sample")
    sample = samples[place]
    args, kwargs = (sample.input, *sample.args), sample.kwargs
    function: Callable[..., Any] = lambda *a, **k: op(*a, **k)  # noqa: E731
    said = sample.output_process_fn_grad  # of results, such as eigenvectors, what does not depend on who computes them
    if op.name in _OF_ANY_VALUES or (op.name == "argsort" and kind == torch.bool):
        raise NotTaken("no values are said")
    if op.name in _OF_TIES:
        said = lambda results: results[0]  # noqa: E731
    if is_gradient:
        function, said = gradient(lambda *a, **k: sample.output_process_fn_grad(op(*a, **k)), args, kwargs), _whole
        args, kwargs = function.tensors, {}
    if not any(isinstance(leaf, torch.Tensor) for leaf in pytree.tree_leaves((args, kwargs))):
        raise NotTaken("takes no tensor")
    try:
        expected, again = (_run(function, args, kwargs, said) for _ in range(2))
        pairs = zip(map(torch.nan_to_num, expected), map(torch.nan_to_num, again), strict=True)
        is_random = not all(torch.equal(*pair) for pair in pairs)
    except Exception as error:
        raise NotTaken(f"{type(error).__name__}: {error}") from error
    if is_gradient and op.name in _OF_ROUNDING:
        raise NotTaken("rounding")
    if is_random or _DRAWS in getattr(getattr(op.op, "__code__", None), "co_names", ()):
        raise NotTaken("draws random numbers")
    if on_constants:
        function, args, kwargs = _of_constants(function, args, kwargs, said), (torch.zeros(()),), {}
        said = _whole
    found = _run(ipu.compile(function, args=args, kwargs=kwargs, target=TARGET), args, kwargs, said)
    return _arrays(found), _arrays(expected)


def _arrays(tensors: list[torch.Tensor]) -> list[Any]:
    return [(each.float() if each.dtype == torch.bfloat16 else each).numpy(force=True) for each in tensors]


def _of_constants(
    function: Callable[..., Any], args: Any, kwargs: Any, said: Callable[[Any], Any]
) -> Callable[..., Any]:
    """What is ``said`` of results of ``function`` of constants of the program, with a zero added."""

    def added(zero: torch.Tensor) -> list[torch.Tensor]:
        whole = pytree.tree_leaves(said(function(*args, **kwargs)))
        given = [each for each in whole if isinstance(each, torch.Tensor)]
        return [each ^ (zero != 0) if each.dtype == torch.bool else each + zero.to(each.dtype) for each in given]

    return added


def _size(sample: Any) -> int:
    leaves = pytree.tree_leaves((sample.input, sample.args, sample.kwargs))
    return sum(leaf.numel() for leaf in leaves if isinstance(leaf, torch.Tensor))


def _whole(results: Any) -> Any:
    return results


def _run(
    function: Callable[..., Any], args: Any, kwargs: Any, said: Callable[[Any], Any] = _whole
) -> list[torch.Tensor]:
    """The tensors among what is ``said`` of the results, of arguments that ``function`` may write to."""
    copies = pytree.tree_map(lambda leaf: leaf.clone() if isinstance(leaf, torch.Tensor) else leaf, (args, kwargs))
    results = said(function(*copies[0], **copies[1]))
    leaves = [leaf for leaf in pytree.tree_leaves(results) if isinstance(leaf, torch.Tensor)]
    return [leaf.detach().resolve_conj().resolve_neg() for leaf in leaves]


def gradient(function: Callable[..., Any], args: Any, kwargs: Any) -> Callable[..., Any]:
    """The gradient of a weighted sum of the results, for all arguments that require one; it takes the tensors alone."""
    leaves, spec = pytree.tree_flatten((args, kwargs))
    places = [n for n, leaf in enumerate(leaves) if isinstance(leaf, torch.Tensor) and leaf.requires_grad]
    if not places:
        raise NotTaken("nothing to differentiate for")

    def gradients(*tensors: torch.Tensor) -> Any:
        own = [each.detach().requires_grad_() for each in tensors]
        whole = list(leaves)
        for place, tensor in zip(places, own, strict=True):
            whole[place] = tensor
        positional, named = pytree.tree_unflatten(whole, spec)
        results = [each for each in pytree.tree_leaves(function(*positional, **named)) if _differentiable(each)]
        if not results:
            raise NotTaken("no result is differentiable")
        slopes = [torch.arange(each.numel()).cos().reshape(each.shape).to(each.dtype) for each in results]
        found = torch.autograd.grad(results, own, slopes, allow_unused=True)
        return [torch.zeros_like(each) if slope is None else slope for each, slope in zip(own, found, strict=True)]

    gradients.tensors = [leaves[place].detach() for place in places]
    return gradients


def _differentiable(result: Any) -> bool:
    return isinstance(result, torch.Tensor) and result.requires_grad


if __name__ == "__main__":
    run_all(cases, __doc__, "Ops and models of PyTorch", HEAD, "torch-ops.md")
