"""Write the table of ``docs/program-calls.md``: the custom calls that carry ops of programs.

``python scripts/write_program_calls_page.py`` after a row of ``CALLS`` was added, or says something else; a
test compares.
"""

from pathlib import Path

from ipu_mlir.passes.importing.stablehlo.program_call import PREFIX, ProgramCall
from ipu_mlir.passes.importing.stablehlo.program_calls import CALLS

PAGE = Path(__file__).parents[1] / "docs" / "program-calls.md"
MARK = "<!-- This table is written by python scripts/write_program_calls_page.py. -->\n"
END = "\n## "


def table() -> str:
    """A row for each call."""
    rows = [
        f"| `{PREFIX}{name}` | {call.says} | {_values(call)} | {_settings(call)} |\n" for name, call in CALLS.items()
    ]
    return "\n| call | what it does | operands, results | attributes |\n|---|---|---|---|\n" + "".join(rows)


def with_table(page: str) -> str:
    """``page`` with the table as it should be."""
    before, _, rest = page.partition(MARK)
    return before + MARK + table() + END + rest.partition(END)[2]


def _values(call: ProgramCall) -> str:
    takes, gives = ("any" if number is None else number for number in (call.operands, call.results))
    functions = f"; `called_computations`: {', '.join(call.functions)}" if call.functions else ""
    return f"{takes}, {gives}" + ("; `token`" if call.is_ordered else "") + functions


def _settings(call: ProgramCall) -> str:
    settings = [
        f"`{name}`{'' if setting.is_required else ' (optional)'}: {setting.says}"
        + (f" ({' or '.join(f'`{each}`' for each in setting.choices)})" if setting.choices else "")
        for name, setting in call.settings.items()
    ]
    return "; ".join(settings)


if __name__ == "__main__":
    PAGE.write_text(with_table(PAGE.read_text()))
