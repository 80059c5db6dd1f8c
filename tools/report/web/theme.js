// One colour and one name for each kind of cycles and each category of memory, all over the page.

const KINDS = {
  compute: "compute",
  exchange: "exchange",
  inter_ipu: "between IPUs",
  sync: "sync",
  host: "host",
};

const CATEGORIES = {
  arguments: "arguments",
  constants: "constants",
  results: "results",
  vertex_code: "vertex code",
  vertex_state: "vertex state",
  exchange_code: "exchange code",
  control_code: "control code",
  temporaries: "temporaries",
  scratch: "scratch",
  gaps: "gaps",
};

const dark = window.matchMedia("(prefers-color-scheme: dark)");

const colours = new Map();
dark.addEventListener("change", () => colours.clear());

/** The value of a CSS variable: "compute", "text", "grid". */
function colour(name) {
  if (!colours.has(name))
    colours.set(name, getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim());
  return colours.get(name);
}

const fontFamily = getComputedStyle(document.body).fontFamily;
const baseFont = () => ({ fontFamily, fontSize: 12, color: colour("text") });

/** An axis with our lines and letters. */
function axis(options) {
  const line = { lineStyle: { color: colour("grid") } };
  return {
    type: "value",
    axisLine: { show: true, onZero: false, ...line },
    axisTick: { show: false },
    splitLine: line,
    nameTextStyle: { color: colour("muted") },
    nameLocation: "middle",
    nameGap: 28,
    ...options,
    axisLabel: { color: colour("muted"), hideOverlap: true, ...options.axisLabel },
  };
}

/** An axis of bytes from 0, with marks at powers of two. */
function bytesAxis(highest) {
  const interval = 2 ** Math.ceil(Math.log2((highest || 1) / 6));
  return axis({ min: 0, max: highest * 1.08, interval, axisLabel: { formatter: bytes, showMaxLabel: false } });
}

/** A box to tick: whether a chart of bytes reaches up to the limit; {box, on()}. */
function limitBox(onchange) {
  const input = element("input", { type: "checkbox", checked: true, onchange });
  return { box: element("label", {}, input, " up to the limit"), on: () => input.checked };
}

/** Dashed lines across a chart of bytes. */
const limitLines = (limits) => ({
  silent: true,
  symbol: "none",
  lineStyle: { color: colour("limit"), type: "dashed", width: 2, shadowColor: colour("surface"), shadowBlur: 4 },
  label: {
    formatter: ({ value }) => `limit ${bytes(value)}`,
    position: "insideEndTop",
    color: colour("limit"),
    backgroundColor: colour("surface"),
    padding: [1, 4],
  },
  data: limits.map((limit) => ({ yAxis: limit })),
});

/** Zooming by wheel, by dragging, and by a slider below the chart. */
function zoom(range) {
  const shared = { xAxisIndex: 0, filterMode: "none", start: range.start, end: range.end };
  const look = {
    height: 18,
    bottom: 6,
    borderColor: colour("grid"),
    fillerColor: colour("selection"),
    handleStyle: { color: colour("surface"), borderColor: colour("muted") },
    moveHandleSize: 0,
    showDetail: false,
    showDataShadow: false,
    brushSelect: false,
  };
  return [
    { type: "inside", zoomOnMouseWheel: "ctrl", moveOnMouseMove: true, ...shared },
    { type: "slider", ...look, ...shared },
  ];
}

const tooltipLook = () => ({
  confine: true,
  backgroundColor: colour("surface"),
  borderColor: colour("grid"),
  padding: 0,
  textStyle: baseFont(),
  transitionDuration: 0,
});

const legendLook = () => ({
  top: 0,
  left: 0,
  type: "plain",
  icon: "roundRect",
  itemWidth: 14,
  textStyle: { ...baseFont(), color: colour("muted") },
});
