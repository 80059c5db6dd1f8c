"""``ipu-opt --verify-roundtrip``: whether IR is the same once it was written and read again."""

import io

from ipu_mlir.dialects import ipu
from ipu_mlir.dialects.support.bindings import ir
from ipu_mlir.dialects.support.diagnostics import DiagnosedError, Diagnostic
from ipu_mlir.dialects.support.errors import CompileError
from ipu_mlir.dialects.support.parsing import parse_module
from ipu_mlir.dialects.support.printing import to_text


def check_round_trip(module: ir.Module, name: str) -> None:
    """Write ``module`` as text, in the generic form and as bytecode, and read each of them.

    Args:
        name: of the program, for messages.

    Raises:
        DiagnosedError: one of them cannot be read, or has become something else.
    """
    expected = _plain(module)
    bytecode = io.BytesIO()
    module.operation.write_bytecode(bytecode)
    forms = {
        "text": to_text(module, locations=True),
        "generic text": to_text(module, locations=True, generic=True),
        "bytecode": bytecode.getvalue(),
    }
    for form, content in forms.items():
        context = ipu.context()
        context.allow_unregistered_dialects = module.context.allow_unregistered_dialects
        try:
            again = parse_module(content, context, f"<{form}>")
        except CompileError as error:
            raise DiagnosedError([Diagnostic(f"the {form} of the program cannot be read: {error}", name)]) from error
        if (found := _plain(again)) != expected:
            lines = zip(expected.splitlines(), found.splitlines(), strict=False)
            was, is_now = next((pair for pair in lines if pair[0] != pair[1]), ("", "more or fewer lines"))
            message = f"the {form} of the program is read as another one: '{was.strip()}' becomes '{is_now.strip()}'"
            raise DiagnosedError([Diagnostic(message, name)])


def _plain(module: ir.Module) -> str:
    return to_text(module, locations=True, generic=True, local_scope=True)
