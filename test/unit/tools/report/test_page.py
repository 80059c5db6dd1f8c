"""The page holds everything it needs, and no name of a program becomes a part of it."""

import base64
import gzip
import json
import re
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ipu_mlir.runtime.profile.profile import Profile
from ipu_mlir.tools.report import page as page_module
from ipu_mlir.tools.report.page import SCRIPTS, page, page_data

ROOT = Path(__file__).parents[4]
REPORT = ROOT / "tools" / "report"
HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)>{{data}}"


def page_of(value: dict[str, Any]) -> str:
    return page([("profile.json", Profile.from_json(value))])


def data_in(text: str) -> dict[str, Any]:
    """What the page's scripts will unpack."""
    packed = re.search(r'id="data">([^<]*)</script>', text)
    assert packed is not None
    return json.loads(gzip.decompress(base64.b64decode(packed[1])))


def test_the_page_holds_the_whole_profile(sample: dict[str, Any]) -> None:
    (shown,) = data_in(page_of(sample))["shown"]
    assert shown["profile"] == sample
    assert shown["file"] == "profile.json"
    assert shown["verdict"]["fit"] == "fits"


def test_names_of_programs_never_become_markup(sample: dict[str, Any]) -> None:
    plain = page_of(sample)
    sample["program"].update(entry=HOSTILE, source=f"{HOSTILE}.mlir")
    sample["ops"][0].update(name=HOSTILE, location=HOSTILE)
    text = page_of(sample)
    assert HOSTILE not in text and "<img" not in text and "<title>&lt;" not in plain
    assert text.count("<script") == plain.count("<script") and text.count("</script") == plain.count("</script")
    assert data_in(text)["shown"][0]["profile"]["ops"][0]["name"] == HOSTILE


def test_scripts_write_texts_and_never_markup() -> None:
    scripts = "\n".join((REPORT / "web" / f"{name}.js").read_text() for name in SCRIPTS)
    assert not re.findall(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function", scripts)


def test_the_page_loads_nothing(sample: dict[str, Any]) -> None:
    text = page_of(sample)
    assert "default-src 'none'" in text
    assert not re.findall(r"""(?:src|href)=["']?(?:https?:)?//""", text)
    assert not re.findall(r"@import|url\(", page_of(sample).partition("</style>")[0])


def test_equal_profiles_give_equal_pages(sample: dict[str, Any]) -> None:
    assert page_of(sample) == page_of(sample)


def test_every_script_is_in_the_page() -> None:
    assert sorted(SCRIPTS) == sorted(path.stem for path in (REPORT / "web").glob("*.js"))


def test_every_placeholder_is_filled(sample: dict[str, Any]) -> None:
    assert not re.findall(r"\{\{\w+\}\}", page_of(sample))


def test_a_comparison_holds_both(make: Callable[..., dict[str, Any]]) -> None:
    both = [(f"{seed}.json", Profile.from_json(make(tiles=16, layers=1, seed=seed))) for seed in (1, 2)]
    data = page_data(both)
    assert [shown["file"] for shown in data["shown"]] == ["1.json", "2.json"]
    assert data["comparison"]["ops"]


@pytest.mark.parametrize(("ipus", "layers"), [(4, 60), pytest.param(64, 60, marks=pytest.mark.slow)])
def test_many_ipus_stay_far_below_5_megabytes(make: Callable[..., dict[str, Any]], ipus: int, layers: int) -> None:
    assert len(page_of(make(ipus=ipus, layers=layers))) < 2_000_000


def test_what_the_page_is_made_of_is_installed() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["package-data"]
    patterns = settings["ipu_mlir.tools.report"]
    installed = {path for pattern in patterns for path in REPORT.glob(pattern)}
    needed = {path for folder in ("web", "vendor") for path in (REPORT / folder).rglob("*") if path.is_file()}
    assert needed <= installed


def test_the_library_is_the_one_that_its_page_describes() -> None:
    import hashlib

    found = hashlib.sha256((REPORT / "vendor" / "echarts.min.js").read_bytes()).hexdigest()
    readme = (REPORT / "vendor" / "README.md").read_text()
    assert found in readme and "6.1.0" in readme
    assert {"LICENSE-echarts", "NOTICE-echarts", "LICENSE-zrender"} <= {
        path.name for path in (REPORT / "vendor").iterdir()
    }
    assert Path(page_module.__file__).parent.samefile(REPORT)
