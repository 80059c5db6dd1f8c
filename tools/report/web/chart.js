// Charts that follow the colour scheme, the width of the page, and the part that is zoomed to.

const charts = [];
let patterns = false;

/**
 * A chart in a box of fixed height. ``option(range)`` gives what to draw of the part ``range``: {start, end} in percent
 * of the x axis, the {width} of the box in pixels, and {top, bottom} of the categories if the y axis scrolls. It is
 * asked again when the part or the colours change. ``label`` says in words what the chart shows.
 *
 * Gives {box, zoomTo(from, to), redraw()}; ``zoomTo`` takes values of the x axis.
 */
function chart({ id, label, height, option, onclick = null }) {
  const box = element("div", { class: "chart", id, role: "img", "aria-label": label, style: `height: ${height}px` });
  const range = { start: 0, end: 100, width: 0 };
  let drawn = null;
  let waiting = false;
  const options = () => ({
    animation: false,
    textStyle: baseFont(),
    aria: { enabled: true, label: { enabled: false }, decal: { show: patterns } },
    ...option(range),
  });
  const redraw = () => drawn?.setOption(options(), { notMerge: true });
  const rescale = () => {
    waiting = false;
    const { series } = options();
    drawn.setOption({ series });
  };
  const start = () => {
    range.width = box.clientWidth;
    drawn = echarts.init(box, null, { renderer: "canvas" });
    redraw();
    drawn.on("datazoom", () => {
      const [across, , down] = drawn.getOption().dataZoom; // wheel and slider across, and maybe a slider down
      Object.assign(range, { start: across.start, end: across.end });
      if (down) Object.assign(range, { top: down.startValue, bottom: down.endValue });
      if (!waiting) requestAnimationFrame(rescale);
      waiting = true;
    });
    if (onclick) drawn.getZr().on("click", (event) => onclick(event, drawn));
    new ResizeObserver(() => {
      if (box.clientWidth === range.width) return;
      range.width = box.clientWidth;
      drawn.resize();
      redraw();
    }).observe(box);
  };
  const zoomTo = (from, to) =>
    drawn.dispatchAction({ type: "dataZoom", dataZoomIndex: 0, startValue: from, endValue: to });
  charts.push({ start, redraw });
  return { box, zoomTo, redraw };
}

/** Where a click is on the x axis; null outside the axes. */
function clickedX(event, drawn) {
  const place = [event.offsetX, event.offsetY];
  return drawn.containPixel({ gridIndex: 0 }, place) ? drawn.convertFromPixel({ gridIndex: 0 }, place)[0] : null;
}

/** Draw every chart whose box is on the page, one after the other, so that the page shows soon. */
async function startCharts() {
  for (const each of charts) {
    each.start();
    await new Promise((go) => setTimeout(go));
  }
  dark.addEventListener("change", redrawCharts);
}

function redrawCharts() {
  for (const each of charts) each.redraw();
}
