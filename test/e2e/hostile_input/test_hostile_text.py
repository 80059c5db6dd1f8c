"""Programs, profiles and file names that carry hostile text, through all tools: text stays text.

``IPU_MLIR_HOSTILE_TEXTS`` says how many texts the slow test uses.
"""

import json
import os
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.damage.hostile_text import quoted, refused_programs, superstep_program, tensor_program, texts, was_executed

import ipu_mlir as ipu
from ipu_mlir.tools import ipu_opt, ipu_report, ipu_run, ipu_sweep, ipu_translate

_TEXTS_IN_A_ROUND = 100  # at least: two programs, a dozen that are refused, and the strings of four profiles
_X = np.array([0, 1, 2, 3], np.float32)

pytestmark = [pytest.mark.filterwarnings("error"), pytest.mark.deadly]


@pytest.fixture(autouse=True)
def nothing_is_executed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    yield
    assert not was_executed()


def _shown(capsys: pytest.CaptureFixture[str]) -> str:
    """What a tool has printed, all of which a terminal shows as it is."""
    captured = capsys.readouterr()
    for line in (captured.out + captured.err).split("\n"):
        assert line.replace("\t", " ").isprintable(), f"{line!r:.300}"
    return captured.out


def _check_program(
    program: str, entry: str, expected: np.ndarray, text: Callable[[], str], capsys: Any, *passes: str
) -> None:
    executable = ipu.compile(program, entry=entry)
    fast, per_tile = executable.run([_X])[0], executable.run_per_tile([_X])[0]
    np.testing.assert_allclose(fast, expected, rtol=1e-6)
    np.testing.assert_allclose(per_tile, expected, rtol=1e-6)
    assert all(line.isprintable() for line in executable.source().split("\n"))
    assert all(line.isprintable() for line in executable.profile().summary().split("\n"))
    json.loads(json.dumps(executable.profile().chrome_trace()))

    file = Path(_file_name(text()))
    file.write_text(program)
    given = [str(Path.cwd() / file), f"--entry={entry}"]
    assert (
        ipu_run.main([*given, "--profile", "p.json", "--chrome-trace", "t.json", "--check", "--inputs", _io(expected)])
        == 0
    )
    assert ipu_translate.main([given[0], "--to-numpy", "--compile", *given[1:]]) == 0
    assert ipu_opt.main([given[0], "--mlir-print-debuginfo", "-o", "again.mlir"]) == 0
    assert ipu_opt.main([given[0], *passes, "--emit-bytecode", "-o", "again.mlirbc"]) == 0
    _shown(capsys)
    for again in ("again.mlir", "again.mlirbc"):
        assert ipu_run.main([again, *given[1:], "--check", "--inputs", "io.npz"]) == 0
    assert ipu_report.main(["p.json", "-o", _file_name(text()).replace(".mlir", ".html")]) == 0
    assert ipu_run.main([given[0], f"--entry={text()}"]) == 1
    _shown(capsys)


def _io(expected: np.ndarray) -> str:
    np.savez("io.npz", in0=_X, out0=expected)
    return "io.npz"


def _file_name(text: str) -> str:
    return f"./{text.replace('/', '|').replace(chr(0), '0')[:50]}.mlir"  # no flag, whatever it begins with


def _sweep(program: str, entry: str, text: Callable[[], str], capsys: Any) -> None:
    name = _file_name(text())
    Path(name).write_text(program)
    outputs = [part for suffix in (".html", ".json", ".csv") for part in ("-o", name.replace(".mlir", suffix))]
    assert ipu_sweep.main([f"./{name}", f"--entry={entry}", "--tiles", "2", *outputs]) == 0
    _shown(capsys)


def _check_refused(text: Callable[[], str], capsys: Any) -> None:
    for program in refused_programs(text):
        Path("bad.mlir").write_bytes(program.encode(errors="surrogatepass"))
        tools = [(ipu_opt, ["--ipu-compile"]), (ipu_translate, ["--to-numpy", "--compile"]), (ipu_run, [])]
        for tool, flags in tools:
            assert tool.main(["bad.mlir", *flags]) in (0, 1)
        _shown(capsys)
    for flags in (["--pass-pipeline", text()], ["--pass-pipeline", f"builtin.module({text()})"], [f"--{text()}"]):
        assert ipu_opt.main(["again.mlir", *flags]) in (0, 1, 2)  # blanks are no pass
    assert ipu_opt.main([f"./{_file_name(text())}.absent"]) == 1
    _shown(capsys)


def _check_profile(text: Callable[[], str], capsys: Any) -> None:
    """A profile in which every text, in turn with others, is another."""
    generator = random.Random(text())

    def changed(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: changed(each) for key, each in value.items()}
        if isinstance(value, list):
            return [changed(each) for each in value]
        return text() if isinstance(value, str) and generator.random() < 0.3 else value

    profile = json.loads(Path("p.json").read_text())
    Path("q.json").write_text(json.dumps({**changed(profile), "schema": profile["schema"]}))
    assert ipu_report.main(["q.json", "p.json", "-o", "q.html"]) in (0, 1)
    _shown(capsys)
    if Path("q.html").exists():
        assert Path("q.html").read_text().count("<script") == Path("p.html").read_text().count("<script")


def _all(count: int, capsys: Any) -> None:
    for seed in range(max(1, count // _TEXTS_IN_A_ROUND)):
        text = texts(seed)
        entry = text()
        _check_program(tensor_program(text, entry), entry, np.exp(_X) + 1, text, capsys, "--ipu-compile")
        assert ipu_report.main(["p.json", "-o", "p.html"]) == 0
        if seed % 8 == 0:
            _sweep(tensor_program(text, entry), entry, text, capsys)
        _check_program(superstep_program(text, entry), entry, _X + 1, text, capsys)
        _check_refused(text, capsys)
        for _ in range(4):
            _check_profile(text, capsys)
        assert not was_executed(), f"texts of seed {seed} were executed"
        for file in Path().iterdir():
            file.unlink()


def test_hostile_text_stays_text(capsys: pytest.CaptureFixture[str]) -> None:
    _all(40, capsys)


@pytest.mark.slow
def test_ten_thousand_hostile_texts_stay_text(capsys: pytest.CaptureFixture[str]) -> None:
    _all(int(os.environ.get("IPU_MLIR_HOSTILE_TEXTS", "10000")), capsys)


@pytest.mark.parametrize("seed", range(20))
def test_bytes_that_are_no_text_are_refused(seed: int, capsys: pytest.CaptureFixture[str]) -> None:
    generator = random.Random(seed)
    broken = [b"\xff", b"\xc3", b"\x80", b"\xed\xa0\x80", b"\xf5\x80\x80\x80", b"\xc0\xaf", b"a\xe2\x80"]
    count = tensor_program(lambda: "x", "main").count('"x"')
    chosen = generator.randrange(count)
    position = iter(range(count))
    program = tensor_program(lambda: "x", "main").split('"x"')
    text = program[0] + "".join(
        (quoted(generator.choice(broken)) if next(position) == chosen else '"x"') + part for part in program[1:]
    )
    Path("a.mlir").write_text(text)
    for tool, flags in ((ipu_opt, []), (ipu_run, []), (ipu_translate, ["--to-numpy", "--compile"]), (ipu_sweep, [])):
        assert tool.main(["a.mlir", *flags]) == 1
        captured = capsys.readouterr()
        message, *quoted_line = captured.err.splitlines()
        assert captured.out == "" and message.startswith("a.mlir:") and "is not UTF-8" in message
        assert len(quoted_line) == 2 and quoted_line[1].strip() == "^"
