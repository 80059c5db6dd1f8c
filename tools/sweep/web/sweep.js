// The plot of cycles against the bytes of the fullest tile, and the table of all settings.

const sweep = JSON.parse(document.getElementById("data").textContent);
const rows = [...sweep.rows].sort((a, b) => a.cycles - b.cycles || a.tile_bytes - b.tile_bytes);
const limits = [...new Set(rows.map((row) => row.bytes_per_tile))];
/** What of the machine varies: [field, title, text of a value]. */
const machineAxes = [
  ["chip", "chip", String],
  ["ipus", "IPUs", (value) => counted(value, "IPU")],
  ["replicas", "replicas", (value) => counted(value, "replica")],
  ["io_tiles", "I/O tiles", (value) => counted(value, "I/O tile")],
].filter(([field]) => rows[0]?.[field] !== undefined);
const machineText = (row) =>
  [...machineAxes.map(([field, , text]) => text(row[field])), counted(row.tiles_per_ipu, "tile")].join(", ");
const machines = [...new Set(sweep.rows.map(machineText))];
const COLOURS = 6;
const SHAPES = ["circle", "rect", "triangle", "diamond"];
/** The axes are logarithmic at first where the largest value is so many times the smallest. */
const WIDE = 8;

const partials = (row) => (row.most_partials === null ? "no limit" : whole(row.most_partials));
const settingText = (row) =>
  `proportion ${row.available_memory_proportion}` +
  (row.most_partials === null ? "" : `, at most ${counted(row.most_partials, "partial")}`) +
  (row.partials_type === "native" ? ", native partials" : "");

/** Points of one machine; settings with equal results are one point: {rows}. */
function points(machine) {
  const found = new Map();
  for (const row of rows.filter((each) => machineText(each) === machine)) {
    const key = `${row.cycles} ${row.tile_bytes}`;
    found.set(key, [...(found.get(key) ?? []), row]);
  }
  return [...found.values()].map((same) => ({ value: [same[0].tile_bytes, same[0].cycles], rows: same }));
}

/** Full shapes fit, hollow ones do not; those on the frontier are larger. */
function machineSeries(machine, index) {
  const shape = SHAPES[index % SHAPES.length];
  const hue = colour(`tiles-${index % COLOURS}`);
  return {
    name: machine,
    type: "line",
    lineStyle: { opacity: 0 },
    itemStyle: { color: hue },
    symbol: shape,
    showAllSymbol: true,
    data: points(machine).map((point) => ({
      ...point,
      symbolSize: point.rows[0].frontier ? 13 : 9,
      itemStyle: { color: point.rows[0].fits ? hue : colour("surface"), borderColor: hue, borderWidth: 2 },
    })),
  };
}

function frontierSeries() {
  const best = rows.filter((row) => row.frontier).sort((a, b) => a.tile_bytes - b.tile_bytes);
  return {
    name: "frontier",
    type: "line",
    step: "end",
    symbol: "none",
    silent: true,
    z: 1,
    itemStyle: { color: colour("frontier") },
    lineStyle: { color: colour("frontier"), width: 2 },
    data: best.map((row) => [row.tile_bytes, row.cycles]),
    markLine: {
      ...limitLines([]),
      label: { ...limitLines([]).label, position: "insideEndTop" },
      data: limits.map((limit) => ({ xAxis: limit })),
    },
  };
}

function pointTip({ data }) {
  const [first, ...others] = data.rows;
  const where = first.fits ? "fits" : `does not fit: ${bytes(first.tile_bytes - first.bytes_per_tile)} too much`;
  return tip(
    `${machineText(first)}, ${settingText(first)}`,
    [
      [null, "fullest tile", `${bytes(first.tile_bytes)} (tile ${whole(first.worst_tile)})`],
      [null, "cycles", whole(first.cycles)],
      [colour("compute"), "compute", whole(first.compute)],
      [colour("exchange"), "exchange", whole(first.exchange)],
      [colour("sync"), "sync", whole(first.sync)],
      [null, "time", seconds(first.seconds)],
    ],
    [where, ...(others.length ? [`the same with ${others.map(settingText).join("; ")}`] : [])].join("; "),
  );
}

const values = (field) => rows.map((row) => row[field]);
const sizes = [...values("tile_bytes"), ...limits];
const isWide = (numbers) => Math.max(...numbers) > WIDE * Math.min(...numbers);

const upToLimit = limitBox(() => plot.redraw());
const logarithmic = element("input", {
  type: "checkbox",
  checked: isWide(sizes) || isWide(values("cycles")),
  onchange: () => plot.redraw(),
});

/** A logarithmic axis between powers of two. */
const logAxis = (numbers, formatter) =>
  axis({
    type: "log",
    logBase: 2,
    min: 2 ** Math.floor(Math.log2(Math.min(...numbers))),
    max: 2 ** Math.ceil(Math.log2(Math.max(...numbers))),
    axisLabel: { formatter },
  });

function axes() {
  const shown = upToLimit.on() ? sizes : values("tile_bytes");
  const across = logarithmic.checked ? logAxis(shown, bytes) : bytesAxis(Math.max(...shown));
  const up = logarithmic.checked
    ? logAxis(values("cycles"), shortCycles)
    : axis({ scale: true, boundaryGap: ["8%", "8%"], axisLabel: { formatter: shortCycles } });
  return { xAxis: { ...across, name: "bytes of the fullest tile" }, yAxis: { ...up, name: "cycles", nameGap: 62 } };
}

const plot = chart({
  id: "sweep-chart",
  label: `Cycles against bytes of the fullest tile for ${counted(rows.length, "setting")}. ${sweep.notes.join(". ")}.`,
  height: 460,
  option: () => ({
    grid: { left: 84, right: 28, top: 40, bottom: 52 },
    legend: { ...legendLook(), type: "scroll" },
    tooltip: { trigger: "item", formatter: pointTip, ...tooltipLook() },
    ...axes(),
    series: [...machines.map(machineSeries), frontierSeries()],
  }),
});

const count = (title, field, text = (row) => whole(row[field])) => ({
  title,
  number: true,
  value: (row) => row[field],
  text,
});
const table = dataTable({
  id: "settings",
  caption: "All settings",
  rows,
  sort: "frontier",
  columns: [
    { title: "frontier", value: (row) => (row.frontier ? 0 : 1), text: (row) => (row.frontier ? "●" : "") },
    ...machineAxes.map(([field, title]) => ({ title, value: (row) => row[field], text: (row) => String(row[field]) })),
    count("proportion", "available_memory_proportion", (row) => String(row.available_memory_proportion)),
    count("tiles", "tiles_per_ipu"),
    count("most partials", "most_partials", partials),
    count("cycles", "cycles"),
    count("compute", "compute"),
    count("exchange", "exchange"),
    count("sync", "sync"),
    count("time", "seconds", (row) => seconds(row.seconds)),
    count("fullest tile", "tile_bytes", (row) => bytes(row.tile_bytes)),
    { title: "memory", value: (row) => (row.fits ? "fits" : "does not fit") },
  ],
});

document.getElementById("top").append(element("div", { class: "title" }, element("h1", {}, sweep.title)));
document.getElementById("sweep").replaceChildren(
  section(
    "frontier",
    "Cycles against memory",
    "Which setting is fastest within the memory of a tile? Hollow points do not fit. Left of and below the line nothing was found.",
    ...sweep.notes.map((note) => element("p", {}, note)),
    element("div", { class: "tools" }, upToLimit.box, element("label", {}, logarithmic, " logarithmic")),
    plot.box,
  ),
  section("all", "Settings", "What does each setting give? The frontier first, then by cycles.", table),
);
await startCharts();
document.documentElement.dataset.ready = "yes";
