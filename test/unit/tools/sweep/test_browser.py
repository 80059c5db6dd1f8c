"""The page of a sweep in headless Chromium: it draws, hovers, follows the colour scheme, and says nothing."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ipu_mlir.dialects.machine.target import Target
from ipu_mlir.inspect.outcomes import Outcome, with_frontier
from ipu_mlir.tools.sweep.page import page
from ipu_mlir.tools.sweep.settings import Setting
from ipu_mlir.tools.sweep.sweep import Sweep

playwright = pytest.importorskip("playwright.sync_api", reason="pip install 'ipu-mlir[browser]' brings playwright")
pytestmark = pytest.mark.browser

FIND = """(name) => {
  const hue = getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim().toLowerCase();
  const canvas = document.querySelector("#sweep-chart canvas");
  const copy = Object.assign(document.createElement("canvas"), { width: canvas.width, height: canvas.height });
  const context = copy.getContext("2d", { willReadFrequently: true });
  context.drawImage(canvas, 0, 0);
  const { data, width } = context.getImageData(0, 0, canvas.width, canvas.height);
  const found = [];
  for (let at = 0; at < data.length; at += 4) {
    const [r, g, b] = data.slice(at, at + 3);
    const here = "#" + [r, g, b].map((each) => each.toString(16).padStart(2, "0")).join("");
    if (here === hue) found.push([(at / 4) % width, Math.floor(at / 4 / width)]);
  }
  return found;
}"""
"""Pixels of the plot in a colour of the page."""


def outcome(proportion: float, tiles: int, cycles: int, tile_bytes: int) -> Outcome:
    fits = tile_bytes <= Target().bytes_per_tile
    setting = Setting(proportion, tiles, None)
    return Outcome(setting, cycles, cycles - 300, 200, 100, cycles / 1e9, tile_bytes, 7, fits, ())


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    program = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        pytest.skip("needs Chromium: apt-get install chromium, or CHROMIUM=/path/to/it")
    with playwright.sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-gpu"])
        yield opened
        opened.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_plot_shows_settings_frontier_and_limit(browser: Any, tmp_path: Path, scheme: str) -> None:
    outcomes = [
        outcome(0.1, 368, 90_000, 300_000),
        outcome(0.2, 368, 90_000, 300_000),
        outcome(0.6, 368, 60_000, 900_000),
        outcome(0.6, 1472, 40_000, 400_000),
    ]
    file = tmp_path / "page.html"
    file.write_text(
        page(
            Sweep(
                "<i>net.mlir: main",
                dict.fromkeys((each.setting for each in outcomes), Target()),
                with_frontier(outcomes),
            )
        )
    )
    said: list[str] = []
    tab = browser.new_page(viewport={"width": 1100, "height": 900}, color_scheme=scheme)
    tab.on("console", lambda message: said.append(message.text))
    tab.on("pageerror", lambda error: said.append(str(error)))
    tab.on("request", lambda request: said.append(request.url) if request.url != file.as_uri() else None)
    tab.goto(file.as_uri())
    tab.wait_for_selector("html[data-ready]")

    assert tab.inner_text("h1") == "<i>net.mlir: main on 1 IPU of the kind ipu2"
    limit_columns = {x for x, _ in tab.evaluate(FIND, "limit")}
    assert limit_columns, "the limit is drawn"
    assert len({x for x, _ in tab.evaluate(FIND, "frontier")}) > 50, "the frontier is a line"
    points = [place for place in tab.evaluate(FIND, "tiles-0") if place[1] > 30]  # below the legend
    left, right = min(points), max(points)
    assert left[0] < min(limit_columns) < right[0], "one fits, one does not"
    box = tab.locator("#sweep-chart").bounding_box()
    for (x, y), text in ((left, "fits"), (right, "does not fit: 255 KiB too much")):
        tab.mouse.move(box["x"] + x + (3 if x == left[0] else -3), box["y"] + y)
        tip = tab.wait_for_selector(f".tip:has-text('{text}')", timeout=3000).inner_text()
        assert "368 tiles, proportion" in tip and "exchange" in tip
    tab.mouse.move(box["x"] + left[0] + 3, box["y"] + left[1])
    assert "the same with proportion 0.2" in tab.wait_for_selector(".tip:has-text('the same')").inner_text()

    rows = tab.locator("#settings tbody tr")
    assert rows.count() == 4 and rows.first.locator("td").nth(2).inner_text() == "1,472"
    tab.click("#settings th button:has-text('cycles')")
    assert rows.first.locator("td").nth(4).inner_text() == "90,000"
    before = tab.evaluate(FIND, "tiles-0")
    tab.click("label:has-text('logarithmic')")
    tab.wait_for_timeout(100)
    assert tab.evaluate(FIND, "tiles-0") not in ([], before), "it is drawn anew"
    tab.close()
    assert [line for line in said if not line.startswith(("data:", "blob:"))] == []
