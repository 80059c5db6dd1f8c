"""The documentation site: every page is in it, and what is generated is there."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

import ipu_mlir

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def pages() -> ModuleType:
    spec = importlib.util.spec_from_file_location("site_pages", ROOT / "scripts" / "site_pages.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_page_has_a_place_in_the_site() -> None:
    text = (ROOT / "mkdocs.yml").read_text()
    missing = [page.name for page in (ROOT / "docs").glob("*.md") if f"- {page.name}\n" not in text]
    assert missing == [], "name them in mkdocs.yml"


def test_the_reference_has_every_public_name(pages: ModuleType) -> None:
    text = pages.api_page()
    values = {name for name in ipu_mlir.__all__ if not isinstance(getattr(ipu_mlir, name), ModuleType)}
    assert [name for name in values if f"### ipu.{name}\n" not in text] == []
    assert "### ipu.random.uniform\n" in text
    assert "torch_mlir." not in text, "signatures show where the compiler takes MLIR from"


def test_links_to_files_that_are_no_pages_become_text(pages: ModuleType) -> None:
    markdown = "[a](tour.md), [b](../examples/mlp.py), [c](check.py) and [d](images/x.png)"
    assert pages.on_page_markdown(markdown) == "[a](tour.md), b, c and [d](images/x.png)"


@pytest.mark.pages
def test_the_site_builds_without_a_warning(tmp_path: Path) -> None:
    pytest.importorskip("mkdocs")
    pytest.importorskip("material")
    import subprocess

    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path / "site")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "site" / "options" / "index.html").exists()
