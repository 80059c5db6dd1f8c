"""ipu-report on the command line: exit status, one line for each mistake, a page that is written whole."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from ipu_mlir.tools import ipu_report


@pytest.fixture(scope="module")
def samples() -> ModuleType:
    """The made-up profiles of the report's own tests."""
    spec = importlib.util.spec_from_file_location("samples", Path(__file__).parent / "report" / "conftest.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def profile(samples: ModuleType, tmp_path: Path) -> Path:
    path = tmp_path / "net.json"
    path.write_text(json.dumps(samples.make_profile(tiles=16, layers=1)))
    return path


def test_the_page_lies_beside_the_profile(profile: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert ipu_report.main([str(profile)]) == 0
    page = profile.with_suffix(".html")
    assert page.read_text().startswith("<!doctype html>")
    assert capsys.readouterr().out == f"{page}: {page.stat().st_size / 1000:,.0f} KB\n"


def test_two_profiles_and_a_name_for_the_page(profile: Path, tmp_path: Path) -> None:
    assert ipu_report.main([str(profile), str(profile), "-o", str(tmp_path / "both.html")]) == 0
    assert (tmp_path / "both.html").stat().st_size < 5_000_000
    assert not profile.with_suffix(".html").exists()


def test_the_page_on_stdout(profile: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert ipu_report.main([str(profile), "-o", "-"]) == 0
    assert capfdbinary.readouterr().out.endswith(b"</html>\n")


@pytest.mark.parametrize("content", ["{", "[]", '{"schema": "ipu-mlir.profile", "version": 7}'])
def test_a_wrong_profile_is_one_line_and_leaves_the_old_page(
    content: str, profile: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong, page = tmp_path / "wrong.json", tmp_path / "page.html"
    wrong.write_text(content)
    page.write_text("old")
    assert ipu_report.main([str(profile), str(wrong), "-o", str(page)]) == 1
    said = capsys.readouterr().err
    assert said.startswith(f"ipu-report: error: {wrong}: ") and said.count("\n") == 1
    assert page.read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["net.json", "page.html", "wrong.json"]


@pytest.mark.parametrize("arguments", [[], ["a", "b", "c"], ["a", "--out", "b"]])
def test_wrong_usage(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert ipu_report.main(arguments) == 2
    assert capsys.readouterr().err.endswith("; see ipu-report --help\n")


def test_a_page_that_cannot_be_written(profile: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert ipu_report.main([str(profile), "-o", str(profile / "page.html")]) == 1
    assert "cannot write" in capsys.readouterr().err


def test_help_loads_nothing_heavy() -> None:
    program = (
        "import sys\nfrom ipu_mlir.tools.ipu_report import main\n"
        "try:\n    main(['--help'])\nexcept SystemExit:\n    pass\nprint('modules', *sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    loaded = set(done.stdout.rpartition("modules ")[2].split())
    assert "ipu_mlir.tools.ipu_report" in loaded
    assert not loaded & {"numpy", "torch_mlir", "ipu_mlir.tools.report.page"}
