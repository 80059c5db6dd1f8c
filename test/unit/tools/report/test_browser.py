"""The page in headless Chromium: it draws, hovers, sorts, searches and zooms, and says nothing on the console."""

import json
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ipu_mlir.runtime.profile.profile import Profile
from ipu_mlir.tools.report.page import page

playwright = pytest.importorskip("playwright.sync_api", reason="pip install 'ipu-mlir[browser]' brings playwright")
pytestmark = pytest.mark.browser

FLAGS = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)
CHARTS = ("cycles-chart", "memory-chart", "liveness-chart", "trace-chart")
HOSTILE = "<img src=x onerror=\"document.title='owned'\">"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """One Chromium for all tests; that of the system, or the one that ``CHROMIUM`` names."""
    program = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        pytest.skip("needs Chromium: apt-get install chromium, or CHROMIUM=/path/to/it")
    with playwright.sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=program, args=list(FLAGS))
        yield opened
        opened.close()


@pytest.fixture
def show(browser: Any, tmp_path: Path) -> Iterator[Callable[..., Any]]:
    """Opens the page of one profile or two; at the end the console must be empty and nothing asked of the network."""
    said: list[str] = []
    pages: list[Any] = []

    def show(*values: dict[str, Any], scheme: str = "light", width: int = 1280) -> Any:
        file = tmp_path / "page.html"
        file.write_text(page([(f"{index}.json", Profile.from_json(value)) for index, value in enumerate(values)]))
        tab = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
        pages.append(tab)
        tab.on("console", lambda message: said.append(f"console: {message.text}"))
        tab.on("pageerror", lambda error: said.append(f"error: {error}"))
        tab.on("request", lambda request: said.append(request.url) if request.url != file.as_uri() else None)
        tab.goto(file.as_uri())
        tab.wait_for_selector("html[data-ready]")
        return tab

    yield show
    for tab in pages:
        tab.close()
    assert [line for line in said if not line.startswith(("data:", "blob:"))] == []


def colours_in(tab: Any, chart: str) -> int:
    """How many colours the canvas of a chart shows."""
    return tab.evaluate(
        """(id) => {
          const canvas = document.querySelector(`#${id} canvas`);
          const copy = Object.assign(document.createElement("canvas"), { width: canvas.width, height: canvas.height });
          const context = copy.getContext("2d", { willReadFrequently: true });
          context.drawImage(canvas, 0, 0);
          const { data } = context.getImageData(0, 0, canvas.width, canvas.height);
          const found = new Set();
          for (let at = 0; at < data.length; at += 4)
            if (data[at + 3] === 255) found.add(data.slice(at, at + 3).join());
          return found.size;
        }""",
        chart,
    )


def column(tab: Any, table: str, title: str) -> list[str]:
    """The texts of a table's column, from top to bottom."""
    heads = tab.locator(f"#{table} thead th").all_inner_texts()
    index = heads.index(title)
    return tab.locator(f"#{table} tbody tr td:nth-child({index + 1})").all_inner_texts()


def numbers(texts: list[str]) -> list[int]:
    return [int(text.replace(",", "")) for text in texts]


def hover(tab: Any, chart: str, across: float, down: float) -> str:
    """What the tooltip says when the mouse is over a place of a chart, in shares of its width and height."""
    box = tab.locator(f"#{chart}")
    box.scroll_into_view_if_needed()
    place = box.bounding_box()
    tab.mouse.move(place["x"] + across * place["width"] - 3, place["y"] + down * place["height"])
    tab.mouse.move(place["x"] + across * place["width"], place["y"] + down * place["height"])
    tip = tab.locator(f"#{chart} .tip")
    tip.wait_for(timeout=2000)
    return tip.inner_text()


def zoom_in(tab: Any, chart: str, turns: int) -> None:
    """Hold Ctrl and turn the wheel over the middle of a chart, so that a part of it fills the width."""
    tab.locator(f"#{chart}").hover()
    tab.keyboard.down("Control")
    for _ in range(turns):
        tab.mouse.wheel(0, -480)
        tab.evaluate("new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))")
    tab.keyboard.up("Control")


def test_every_chart_draws_and_says_what_is_under_the_mouse(show: Callable[..., Any], sample: dict[str, Any]) -> None:
    tab = show(sample)
    assert all(colours_in(tab, chart) > 3 for chart in CHARTS)
    assert tab.title() == "net.mlir: main - IPU profile"
    assert "It fits: tile " in tab.locator("#summary .verdict").inner_text()
    said = hover(tab, "memory-chart", 0.5, 0.5)
    assert said.startswith("Tile 3") and "temporaries" in said and "KiB" in said
    assert hover(tab, "liveness-chart", 0.48, 0.5).startswith("Step 6: ")
    assert "cycles × 100" in hover(tab, "trace-chart", 0.5, 0.5)
    assert "compute" in hover(tab, "cycles-chart", 0.3, 0.7)


def test_a_table_sorts_by_mouse_and_keyboard_and_searches(show: Callable[..., Any], sample: dict[str, Any]) -> None:
    tab = show(sample)
    cycles = sorted((op["cycles"] for op in sample["ops"]), reverse=True)
    assert numbers(column(tab, "ops-table", "cycles")) == cycles
    tab.locator("#ops-table th button", has_text="cycles").click()
    assert numbers(column(tab, "ops-table", "cycles")) == cycles[::-1]
    tab.locator("#ops-table th button", has_text="operation").press("Enter")
    assert column(tab, "ops-table", "operation") == sorted(op["name"] for op in sample["ops"])
    assert tab.locator("#ops-table th", has_text="operation").get_attribute("aria-sort") == "ascending"
    box = tab.get_by_placeholder("Search names and locations")
    box.fill("SoftMax")
    assert set(column(tab, "ops-table", "operation")) == {"linalg.softmax"}
    assert tab.locator("#ops-table .count").inner_text() == "2 of 6"
    box.fill("nowhere")
    assert tab.locator("#ops-table tbody").inner_text() == "Nothing contains 'nowhere'."


def test_small_use_of_memory_can_fill_the_chart(show: Callable[..., Any], make: Callable[..., dict[str, Any]]) -> None:
    tab = show(make(tiles=16, layers=1, fullness=0.02))
    box = tab.locator("#memory-chart").bounding_box()
    clip = {"x": box["x"] + 200, "y": box["y"] + 150, "width": 200, "height": 60}
    upper = tab.screenshot(clip=clip, full_page=True)
    tab.locator("#memory").get_by_label("up to the limit").uncheck()
    assert tab.screenshot(clip=clip, full_page=True) != upper


def test_a_click_shows_details_and_the_wheel_zooms(show: Callable[..., Any], sample: dict[str, Any]) -> None:
    tab = show(sample)
    tab.locator("#liveness-chart").click(position={"x": 600, "y": 150})
    assert tab.locator("#liveness .panel h3").inner_text().startswith("Step 6: ")
    tab.locator("#memory-chart").click(position={"x": 640, "y": 200})
    assert tab.locator("#memory .panel h3").inner_text().startswith("Tile 3")
    tab.locator("#tile-number").fill("7")
    tab.locator("#tile-number").press("Enter")
    assert tab.locator("#memory .panel h3").inner_text().startswith("Tile 7: ")
    tab.locator("#trace-chart").click(position={"x": 640, "y": 60})
    assert tab.locator("#trace .panel h3").inner_text().startswith("Step ")
    before = hover(tab, "memory-chart", 0.9, 0.5)
    zoom_in(tab, "memory-chart", 8)
    assert before.startswith("Tile 5") and hover(tab, "memory-chart", 0.9, 0.5).startswith("Tile 4")


def test_the_tree_opens_by_keyboard_and_leads_to_steps(show: Callable[..., Any], sample: dict[str, Any]) -> None:
    tab = show(sample)
    root = tab.locator("#tree summary").first
    root.press("Enter")
    assert not tab.locator("#tree .leaf").first.is_visible()
    root.press("Enter")
    assert "scf.for" in tab.locator("#tree").inner_text()
    tab.locator("#tree .leaf button", has_text="linalg.softmax of layer 1").click()
    assert "linalg.softmax of layer 1" in tab.locator("#trace .panel h3").inner_text()


def test_two_profiles_are_compared(show: Callable[..., Any], make: Callable[..., dict[str, Any]]) -> None:
    tab = show(make(tiles=64, layers=2), make(tiles=64, layers=3, seed=5))
    assert colours_in(tab, "overlay-chart") > 3
    assert "% fewer cycles than the other" in tab.locator("#comparison .words").inner_text()
    assert "better" in tab.locator("#comparison-totals").inner_text()
    assert any(text.startswith("gone") for text in column(tab, "comparison-table", "difference in size"))
    assert hover(tab, "overlay-chart", 0.5, 0.5).startswith("Tile 3")


def test_problems_come_first(show: Callable[..., Any], make: Callable[..., dict[str, Any]]) -> None:
    tab = show(make(tiles=64, layers=2, fullness=1.3), scheme="dark")
    first = tab.locator("section").first
    assert first.get_attribute("id") == "problems"
    assert "%weight0" in first.inner_text() and "availableMemoryProportion" in first.inner_text()
    assert tab.locator("header .badge").inner_text() == "Does not fit"


@pytest.mark.slow
def test_64_ipus_are_aggregated_and_zoom_to_single_tiles(
    show: Callable[..., Any], make: Callable[..., dict[str, Any]]
) -> None:
    tab = show(make(ipus=64, layers=60))
    assert all(colours_in(tab, chart) > 3 for chart in CHARTS)
    assert hover(tab, "memory-chart", 0.5, 0.5).startswith("Tiles 4")
    assert "IPU 63" not in tab.locator("#trace").inner_text()
    tab.get_by_label("Zoom to").select_option("IPU 31")
    assert "(IPU 31, tile 7" in hover(tab, "memory-chart", 0.5, 0.5)
    assert "Most of it: step " in hover(tab, "trace-chart", 0.4, 0.45)
    tab.get_by_role("button", name="Zoom to it").click()
    assert hover(tab, "trace-chart", 0.5, 0.45).startswith("Step ")


@pytest.mark.parametrize("width", [390, 700])
@pytest.mark.parametrize("ipus", [1, 4])
def test_nothing_is_wider_than_a_narrow_window(
    show: Callable[..., Any], make: Callable[..., dict[str, Any]], width: int, ipus: int
) -> None:
    tab = show(make(ipus=ipus, tiles=64, layers=2, fullness=1.3), make(ipus=ipus, tiles=64, layers=1), width=width)
    assert tab.evaluate("document.documentElement.scrollWidth") <= width


def test_the_map_of_tiles_goes_through_the_steps(show: Callable[..., Any], sample: dict[str, Any]) -> None:
    tab = show(sample)
    totals = [0] * 64
    for step in sample["execution"]["steps"]:
        for tile, busy in enumerate(expanded(sample["execution"]["tile_cycles"], step.get("busy"))):
            totals[tile] += step["count"] * busy
    assert said(max(totals)) in tab.locator("#tiles .count").inner_text()
    tab.get_by_label("What the map shows").select_option("live")
    tab.locator("#tiles").get_by_label("Step").fill("2")
    assert tab.locator("#tiles .tools .link").inner_text().startswith("Step 2: ")
    assert colours_in(tab, "tile-map") > 3
    before = tab.locator("#tile-map canvas").screenshot()
    tab.get_by_label("What the map shows").select_option("busy")
    assert tab.locator("#tile-map canvas").screenshot() != before
    tab.locator("#tile-map canvas").click(position={"x": 5, "y": 5})
    assert tab.locator("#memory .panel h3").inner_text().startswith("Tile 0: ")
    tab.locator("#tile-map canvas").press("ArrowRight")
    assert tab.locator("#memory .panel h3").inner_text().startswith("Tile 1: ")
    tab.locator("#tile-map canvas").hover(position={"x": 45, "y": 5})
    assert tab.locator("#tile-map .hint").inner_text().startswith("Tile ")


def test_exchanges_show_who_sends_to_whom(show: Callable[..., Any], make: Callable[..., dict[str, Any]]) -> None:
    tab = show(make(ipus=4, tiles=64, layers=2))
    assert colours_in(tab, "exchange-matrix") > 1
    assert "4 KiB of them between IPUs" in tab.locator("#exchanges .count").inner_text()
    tab.locator("#exchanges").get_by_role("button", name="Show the step").click()
    assert "operands of linalg" in tab.locator("#trace .panel h3").inner_text()


def test_live_bytes_of_one_tile(show: Callable[..., Any], sample: dict[str, Any]) -> None:
    tab = show(sample)
    tab.locator("#live-tile").fill("9")
    tab.locator("#live-tile").press("Enter")
    tab.locator("#live-step").fill("2")
    tab.locator("#live-step").press("Enter")
    assert "on tile 9" in tab.locator("#liveness .panel h3").inner_text()
    place = {step["id"]: index for index, step in enumerate(sample["compilation"]["steps"])}
    lists = sample["compilation"]["tile_bytes"]
    live = expanded([sample["compilation"]["memory"]["per_tile"]["always_live"]], 0)[9]
    for each in sample["compilation"]["variables"]:
        if each["first_step"] is not None and place[each["first_step"]] <= 2 <= place[each["last_step"]]:
            live += expanded(lists, each["bytes_per_tile"])[9]
    assert f"{live / 1024:.0f} KiB" in tab.locator("#liveness .panel h3").inner_text()


def test_a_click_leads_from_an_op_to_its_steps_and_its_line(show: Callable[..., Any], sample: dict[str, Any]) -> None:
    tab = show(sample)
    tab.locator("#ops-table tbody .link").first.click()
    panel = tab.locator("#ops .panel")
    assert "= linalg.op" in panel.locator("code").inner_text()
    step = panel.locator("#op-steps tbody .link").first
    name = step.inner_text()
    step.click()
    assert tab.locator("#trace .panel h3").inner_text() == f"Step {name}"
    assert "= linalg.op" in tab.locator("#trace .panel code").inner_text()
    tab.locator("#trace .panel").get_by_role("button", name="Show on the map of tiles").click()
    assert tab.locator("#tiles .tools .link").inner_text() == f"Step {name}"


def test_one_search_finds_everything(show: Callable[..., Any], sample: dict[str, Any]) -> None:
    tab = show(sample)
    box = tab.get_by_label("Search operations, steps and variables")
    box.fill("%weight1")
    assert tab.locator(".found li").all_inner_texts() == ["variable %weight1 net.mlir:13:8"]
    box.press("Enter")
    assert column(tab, "variables-table", "name") == ["%weight1"]
    box.fill("softmax of layer 1")
    tab.locator(".found button", has_text="step").first.click()
    assert "linalg.softmax of layer 1" in tab.locator("#trace .panel h3").inner_text()
    box.fill("nowhere to be found")
    assert tab.locator(".found").inner_text() == "Nothing found."


def test_the_address_leads_to_what_was_seen(show: Callable[..., Any], sample: dict[str, Any]) -> None:
    tab = show(sample)
    tab.locator("nav a", has_text="Execution trace").click()
    tab.locator("#trace-step").fill("5")
    tab.locator("#trace-step").press("Enter")
    tab.locator("#tile-number").fill("7")
    tab.locator("#tile-number").press("Enter")
    tab.get_by_label("What the map shows").select_option("peak")
    address = tab.evaluate("location.href")
    assert address.endswith("#trace&step=5&tile=7&map=peak")
    tab.reload()
    tab.wait_for_selector("html[data-ready]")
    assert tab.locator("#trace .panel h3").inner_text().startswith("Step 5: ")
    assert tab.locator("#memory .panel h3").inner_text().startswith("Tile 7: ")
    assert tab.get_by_label("What the map shows").input_value() == "peak"


def said(cycles: int) -> str:
    """Cycles as the page writes them."""
    return f"Most {cycles:,} cycles" if cycles < 1e6 else f"Most {cycles / 1e6:.3g} M cycles"


def expanded(lists: list[list[list[int]]], index: int | None) -> list[int]:
    """A number for each tile; none for no list."""
    return [] if index is None else [value for value, count in lists[index] for _ in range(count)]


def test_names_of_programs_are_shown_as_they_are(show: Callable[..., Any], sample: dict[str, Any]) -> None:
    text = json.dumps(sample).replace("linalg.matmul", HOSTILE.replace('"', '\\"'))
    tab = show(json.loads(text))
    assert HOSTILE in column(tab, "ops-table", "operation")
    assert HOSTILE in hover(tab, "liveness-chart", 0.2, 0.5)
    assert tab.locator("img").count() == 0
    assert tab.title() == "net.mlir: main - IPU profile"


def test_charts_follow_the_colour_scheme_and_the_patterns_box(show: Callable[..., Any], sample: dict[str, Any]) -> None:
    tab = show(sample)
    plain = colours_in(tab, "memory-chart")
    tab.locator("header .patterns input").check()
    assert colours_in(tab, "memory-chart") > plain
    before = tab.locator("#memory-chart canvas").first.screenshot()
    tab.emulate_media(color_scheme="dark")
    assert tab.locator("#memory-chart canvas").first.screenshot() != before


def test_a_program_that_does_nothing_has_a_page(show: Callable[..., Any], sample: dict[str, Any]) -> None:
    empty = {"compute_sets": [], "steps": [], "variables": []}
    root = {"kind": "sequence", "name": "main", "location": None, "count": 1, "step": None, "children": []}
    sample["compilation"].update(**empty, program_tree=root)
    sample["execution"].update(steps=[], cycles=dict.fromkeys(sample["execution"]["cycles"], 0), seconds=0.0, flops=0)
    sample["ops"].clear()
    tab = show(sample)
    assert "It takes no cycles at all." in tab.locator("#summary").inner_text()
    assert "The program has no operations." in tab.locator("#ops").inner_text()
