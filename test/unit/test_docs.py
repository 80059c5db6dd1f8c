"""Every page of docs/ does what it says."""

import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.glob("*.md"))

pytestmark = pytest.mark.pages


def load_check() -> ModuleType:
    """docs/check.py, which is a script and no installed module."""
    spec = importlib.util.spec_from_file_location("docs_check", DOCS / "check.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["docs_check"] = module  # dataclasses look their module up there
    spec.loader.exec_module(module)
    return module


check = load_check()


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_page_shows_what_its_commands_and_examples_print(path: Path) -> None:
    assert "\n\n".join(map(str, check.differences(path.read_text()))) == ""


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_links_to_files_lead_somewhere(path: Path) -> None:
    links = [link.partition("#")[0] for link in re.findall(r"\]\(([^)]+)\)", path.read_text()) if "://" not in link]
    assert [link for link in links if link and not (path.parent / link).exists()] == []


def test_the_index_names_every_page() -> None:
    index = (DOCS / "README.md").read_text()
    assert [page.name for page in PAGES if page.name != "README.md" and f"]({page.name})" not in index] == []


def test_the_tour_says_where_each_command_of_the_readme_is_carried_out() -> None:
    shown = [line.partition("#")[0] for line in re.findall(r"^    (ipu-.*)", (ROOT / "README.md").read_text(), re.M)]
    commands = [re.findall(r"(?<!\S)(?:--)?[a-z][a-z-]*", command) for command in shown]
    rows = re.findall(r"^\| `(ipu-[^`]*)` \|", (DOCS / "tour.md").read_text(), re.M)
    explained = [row.partition("=")[0].split() for row in rows]
    assert [command for command in shown if not any(tool in command for tool, *_ in explained)] == []
    assert [row for row in explained if not any(set(row) <= set(command) for command in commands)] == []
    flags = {flag for row in explained for flag in row[1:]}
    shared = {"--compile", "--print-after-all", "--print-values", "--tiles", "--time"}
    assert {word for command in commands for word in command if word.startswith("--")} - shared == flags


def test_pages_with_commands_are_found() -> None:
    assert {"tour", "runtime"} <= {page.stem for page in PAGES if "\n```sh\n$ " in page.read_text()}


def test_a_wrong_output_is_a_difference() -> None:
    found = check.differences("Text\n\n```sh\n$ echo one; echo two\none\n$ false\n[exit status 1]\n```\n")
    assert [(each.line, each.command, each.found) for each in found] == [(4, "echo one; echo two", "one\ntwo\n")]


def test_a_wrong_example_is_a_difference_and_names_are_shared() -> None:
    found = check.differences("```python\n>>> x = 2\n```\n\n```python\n>>> x + 1\n4\n```\n")
    assert [each.line for each in found] == [6]
    assert "Expected:\n    4\nGot:\n    3" in found[0].found


def test_a_block_on_a_framework_that_is_absent_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    page = "```python\n>>> import torch\n>>> 1\n2\n```\n\n```python\n>>> 1\n3\n```\n"
    after = "\n```python\n>>> torch.pi\n```\n"
    assert [each.line for each in check.differences(after)] == [3]
    monkeypatch.setattr(check.importlib.util, "find_spec", lambda name: None)
    assert [each.line for each in check.differences(page + after)] == [8]


def test_an_error_may_come_from_a_function_of_an_earlier_block() -> None:
    early = "```python\n>>> x = 1\n>>> def f():\n...     raise ValueError(x)\n\n```\n"
    late = "```python\n>>> f()\nTraceback (most recent call last):\n    ...\nValueError: 1\n\n```\n"
    assert check.differences(early + late) == []


def test_dots_stand_for_lines() -> None:
    assert check.differences("```sh\n$ printf 'a\\nb\\nc\\n'\na\n...\nc\n$ echo last\n...\n```\n") == []
    assert len(check.differences("```sh\n$ printf 'a\\nb\\n'\n...\nc\n```\n")) == 1


def test_other_blocks_are_left_alone() -> None:
    sketch = "<!-- sketch -->\n```python\nraise ValueError\n```\n"
    assert check.differences(f"```sh\nfalse\n```\n\n{sketch}\n```\n$ false\n```\n") == []


def test_a_plain_program_that_fails_is_a_difference_and_names_are_shared() -> None:
    page = "```python\nx = 2\n```\n\n```python\nassert x == 3, 'no'\n```\n\n```python\n>>> x\n2\n```\n"
    found = check.differences(page)
    assert [each.line for each in found] == [6]
    assert "AssertionError: no" in found[0].found


def test_write_puts_outputs_into_the_page_and_keeps_those_that_match() -> None:
    page = "```sh\n$ echo 1\n$ echo 2\n3\n```\nend\n```sh\n$ printf 'a\\nb\\n'\n...\n```\n"
    assert check.written(page) == "```sh\n$ echo 1\n1\n$ echo 2\n2\n```\nend\n```sh\n$ printf 'a\\nb\\n'\n...\n```\n"


def test_commands_leave_nothing_in_the_project() -> None:
    before = set(ROOT.iterdir())
    assert check.differences("```sh\n$ echo made > made.txt; cat made.txt\nmade\n$ cat made.txt\nmade\n```\n") == []
    assert set(ROOT.iterdir()) == before
