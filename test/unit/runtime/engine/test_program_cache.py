"""Translated programs on disk: the next compilation of the same program neither plans nor lowers nor translates."""

import os
import subprocess
import sys
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ipu_mlir as ipu
from ipu_mlir.compilation import compiled_modules
from ipu_mlir.compilation import lowering as lowerings
from ipu_mlir.dialects.codelets import library
from ipu_mlir.runtime.engine import code_cache, program_cache
from ipu_mlir.runtime.engine.object_code import can_load

pytestmark = pytest.mark.skipif(not can_load(), reason="programs are kept where object code is")

PROGRAM = """
func.func @main(%x: tensor<4xf32>, %y: tensor<4xbf16>) -> (tensor<4xf32>, tensor<4xbf16>) {
  %c = arith.constant dense<[1.0, 2.0, 3.0, VALUE]> : tensor<4xf32>
  %0 = arith.addf %x, %c : tensor<4xf32>
  %1 = arith.addf %y, %y : tensor<4xbf16>
  return %0, %1 : tensor<4xf32>, tensor<4xbf16>
}
"""
TARGET = ipu.Target(tiles_per_ipu=2)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = tmp_path / "kept"
    monkeypatch.setenv(code_cache.FOLDER, str(place))
    return place


@pytest.fixture
def lowered(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The entry of each program that is lowered."""
    found: list[str] = []
    lower = lowerings.lower_together

    def counted(module: Any, entries: Any, lowering: Any) -> Any:
        found.extend(entries)
        return lower(module, entries, lowering)

    for each in (lowerings, compiled_modules):
        monkeypatch.setattr(each, "lower_together", counted)
    return found


def compiled(last: float = 4.0, **options: Any) -> Any:
    given: dict[str, Any] = {"target": TARGET, **options}
    return ipu.compile(PROGRAM.replace("VALUE", f"{last:.1f}"), **given)


def results_of(program: Any) -> list[list[float]]:
    x = np.arange(4, dtype=np.float32)
    results = program.run([x, x.astype(program.argument_specs[1].dtype)])
    return [[float(each) for each in result] for result in results]


@pytest.mark.parametrize("kernels", ["never", "always"])
def test_second_compilation_lowers_nothing_and_computes_the_same(
    folder: Path, lowered: list[str], kernels: str
) -> None:
    first, second = (compiled(kernels=kernels) for _ in range(2))
    assert lowered == ["main"]
    assert second.source() == first.source()
    assert results_of(first) == results_of(second) == [[1, 3, 5, 7], [0, 2, 4, 6]]
    assert second.engine.arguments == first.engine.arguments and second.engine.results == first.engine.results
    assert lowered == ["main"]
    assert [each.name for each in second.pass_timings] == [each.name for each in first.pass_timings]
    assert second.mlir("l3") == first.mlir("l3") and str(second.profile()) == str(first.profile())


def test_second_compilation_warns_as_the_first_does(folder: Path, lowered: list[str]) -> None:
    """A machine that is emulated may have too little memory for what it runs."""
    small = replace(TARGET, emulated=True, bytes_per_tile=8)
    heard = []
    for _ in range(2):
        with pytest.warns(ipu.MemoryWarning) as found:
            compiled(target=small)
        heard.append([(str(each.message), each.message.settings) for each in found])  # type: ignore[union-attr]
    assert lowered == ["main"]
    assert heard[0] == heard[1] and "tile 0" in heard[0][0][0]


def test_a_warning_that_is_hidden_the_first_time_is_kept(folder: Path, lowered: list[str]) -> None:
    small = replace(TARGET, emulated=True, bytes_per_tile=8)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        compiled(target=small)
    with pytest.warns(ipu.MemoryWarning):
        compiled(target=small)
    assert lowered == ["main"]


def test_whatever_decides_the_program_is_in_the_key(folder: Path, lowered: list[str]) -> None:
    variants: list[dict[str, Any]] = [
        {},
        {"last": 5.0},
        {"target": ipu.Target(tiles_per_ipu=4)},
        {"available_memory_proportion": 0.5},
        {"merge_collectives": 8},
        {"partials_type": "native"},
        {"outline_layers": False},
        {"recompute": 0.1},
        {"kernels": "always" if os.environ.get("IPU_KERNELS") == "never" else "never"},
    ]
    for variant in variants:
        compiled(**variant)
    assert len(lowered) == len(variants)
    assert results_of(compiled(last=5.0))[0] == [1, 3, 5, 8]
    assert len(lowered) == len(variants)


def test_a_program_from_the_disk_is_not_parsed_and_needs_no_mlir(folder: Path) -> None:
    compiled(kernels="never")
    script = (
        "import sys, numpy as np, ipu_mlir as ipu\n"
        "exe = ipu.compile(sys.stdin.read(), target=ipu.Target(tiles_per_ipu=2), kernels='never')\n"
        "x = np.arange(4, dtype=np.float32)\n"
        "print(exe.run([x, x.astype(exe.argument_specs[1].dtype)])[0].tolist())\n"
        "print('ipu_mlir.dialects.support.bindings' in sys.modules, exe, exe.mlir('l0').count('func.func @main'))"
    )
    text = PROGRAM.replace("VALUE", "4.0")
    done = subprocess.run([sys.executable, "-c", script], input=text, capture_output=True, text=True, check=True)
    specs = "(float32[4], bfloat16[4]) -> (float32[4], bfloat16[4])"
    assert done.stdout == f"[1.0, 3.0, 5.0, 7.0]\nFalse <Executable main{specs}> 1\n"


def test_a_traced_function_from_the_disk_needs_no_passes(folder: Path) -> None:
    script = (
        "import sys, numpy as np, ipu_mlir as ipu\n"
        "exe = ipu.compile(lambda x: x + 1, args=[np.zeros(3, np.float32)], target=ipu.Target(tiles_per_ipu=2))\n"
        "print(exe(np.ones(3, np.float32)).tolist(), 'ipu_mlir.passes.core.base' in sys.modules)"
    )
    runs = [subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True) for _ in "12"]
    assert [each.stdout for each in runs] == ["[2.0, 2.0, 2.0] True\n", "[2.0, 2.0, 2.0] False\n"]


def test_programs_of_another_version_are_not_found(
    folder: Path, lowered: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    compiled()
    monkeypatch.setattr(program_cache, "_version", lambda: "another")
    compiled()
    assert lowered == ["main"] * 2


def test_damaged_file_is_compiled_again(folder: Path, lowered: list[str]) -> None:
    compiled()
    for path in folder.iterdir():
        content = bytearray(path.read_bytes())
        content[-1] ^= 1
        path.write_bytes(content)
    assert results_of(compiled()) == [[1, 3, 5, 7], [0, 2, 4, 6]]
    assert lowered == ["main"] * 2


def test_planner_or_passes_or_codelets_of_the_user_keep_nothing(
    folder: Path, lowered: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from ipu_mlir.passes.placement.planner.fastest import Fastest

    of_the_user: list[dict[str, Any]] = [{"planner": Fastest()}, {"pipeline": "ipu-normalize,ipu-place,ipu-lower"}]
    for options in of_the_user * 2:
        compiled(**options)
    monkeypatch.setitem(library.LIBRARY, "of_a_plugin", library.LIBRARY["sort"])
    for _ in range(2):
        compiled()
    assert lowered == ["main"] * 5, "a program that does not call the codelet is kept"
    call = b'linalg.generic {library_call = "of_a_plugin"}'
    assert program_cache.key_of(lambda: call, ["main"], "main", "") is None


def accumulating(first: float) -> Any:
    """A program that adds to a variable, and one that reads it; both through an outfeed."""
    total = ipu.Variable(np.full(2, first, np.float32), name="total")
    shown = ipu.Outfeed(name="shown")

    def add(x: Any) -> Any:
        total.assign(total.value + x)
        shown.enqueue(total.value * 2)
        return total.value

    def look() -> Any:
        return total.value + 0.5

    args = {"add": [np.zeros(2, np.float32)], "look": []}
    return total, shown, ipu.compile({"add": add, "look": look}, args=args, target=TARGET)


def test_programs_with_state_are_kept_without_its_first_values(folder: Path, lowered: list[str]) -> None:
    for first in (1.0, 1.0, 5.0):
        total, shown, programs = accumulating(first)
        session = programs.session()
        assert session.run("add", np.ones(2, np.float32)).tolist() == [first + 1] * 2
        assert session.run("look").tolist() == [first + 1.5] * 2
        assert total.value.tolist() == [first] * 2, "the variable of Python is not that of the session"
        programs["add"](np.full(2, 3, np.float32))
        assert programs["look"]().tolist() == [first + 3.5] * 2 and total.value.tolist() == [first + 3] * 2
        assert shown.read().tolist() == [[2 * first + 6] * 2]
    assert lowered == ["add", "look"], "both are lowered at once, and once"


def test_a_remote_buffer_of_a_variable_keeps_nothing(folder: Path, lowered: list[str]) -> None:
    for first in (1.0, 2.0):
        rows = ipu.Variable(np.full(2, first, np.float32), name="rows", offload=True)

        def double(rows: Any = rows) -> Any:
            rows.assign(rows.value * 2)
            return rows.value

        assert ipu.compile(double, args=[], target=TARGET)().tolist() == [2 * first] * 2
    assert lowered == ["main"] * 2


def test_nothing_is_kept_without_a_folder(lowered: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(code_cache.FOLDER, "")
    for _ in range(2):
        compiled()
    assert lowered == ["main"] * 2


def test_constants_of_every_type_come_back() -> None:
    arrays = {name: np.arange(6).reshape(2, 3).astype(dtype) for name, dtype in program_cache._types().items()}
    arrays |= {"empty": np.zeros((0, 3), np.float32), "number": np.array(7, np.int16)}
    translation = replace(compiled(kernels="never").engine.translation, constants=arrays)
    found = program_cache.from_bytes(program_cache.to_bytes(translation) or b"")[0].constants
    assert list(found) == list(arrays)
    for name, array in arrays.items():
        assert found[name].dtype == array.dtype and found[name].shape == array.shape
        assert found[name].tobytes() == array.tobytes()
