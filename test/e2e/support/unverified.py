"""Superstep programs that the verifier would reject, as modules: to see what the per-tile executor makes of them.

Parsing verifies. So the ops of the dialect are read under a name that no dialect has, and then put in their place,
which verifies nothing.
"""

from ipu_mlir.dialects.support.bindings import ir

_PLACEHOLDER = "unverified."


def parse_unverified(text: str) -> ir.Module:
    """The module of ``text``, in a context that knows the dialect, without asking the dialect's verifiers."""
    context = ir.Context.current
    allowed, context.allow_unregistered_dialects = context.allow_unregistered_dialects, True
    try:
        module = ir.Module.parse(text.replace('"ipu.', f'"{_PLACEHOLDER}'))
        _restore(module.operation)
    finally:
        context.allow_unregistered_dialects = allowed
    return module


def _restore(op: ir.Operation) -> None:
    """Put the ops of the dialect back in their places inside ``op``, the innermost first."""
    for region in op.regions:
        for block in region.blocks:
            for inner in list(block.operations):
                _restore(inner.operation)
                if inner.operation.name.startswith(_PLACEHOLDER):
                    _replace(inner.operation)


def _replace(op: ir.Operation) -> None:
    new = ir.Operation.create(
        "ipu." + op.name.removeprefix(_PLACEHOLDER),
        results=[result.type for result in op.results],
        operands=list(op.operands),
        attributes={name: op.attributes[name] for name in op.attributes},
        regions=len(op.regions),
        loc=op.location,
        ip=ir.InsertionPoint(op),
    )
    for old, region in zip(op.regions, new.regions, strict=True):
        for block in list(old.blocks):
            block.append_to(region)
    for result, replacement in zip(op.results, new.results, strict=True):
        result.replace_all_uses_with(replacement)
    op.erase()
