// The verdict in words, the figures behind it, and where the cycles go.

const FITS = { fits: "Fits", "nearly full": "Nearly full", "does not fit": "Does not fit" };

function summarySection(data) {
  const { verdict, execution, compilation, target, profile } = data;
  const memory = compilation.memory;
  const type = peakType(execution.share_of_peak);
  const peak = execution.share_of_peak[type];
  const cards = [
    [
      "fullest tile",
      percent(memory.worst_bytes / memory.limit),
      `${bytes(memory.worst_bytes)} of ${bytes(memory.limit)}, tile ${whole(memory.worst_tile)}`,
    ],
    [
      "time",
      seconds(execution.seconds),
      `${cycles(execution.cycles.total)}${execution.measured ? "" : ", not measured"}`,
    ],
    [
      "speed",
      flops(execution.flops_per_second, "FLOP/s"),
      peak ? `${percent(peak)} of the ${type} peak` : `${flops(execution.flops)} in all`,
    ],
    ["tile balance", percent(execution.tile_balance), "average tile / slowest tile"],
  ];
  return section(
    "summary",
    "Summary",
    "Does it fit, how long does it take, where does the time go?",
    element(
      "ul",
      { class: "verdict" },
      ...["memory", "time", "dominant", "balance"].map((key) =>
        element("li", { class: key === "memory" ? fitClass(verdict.fit) : null }, verdict[key]),
      ),
    ),
    element(
      "div",
      { class: "cards" },
      ...cards.map(([name, value, note]) =>
        element(
          "div",
          { class: "figure" },
          element("span", {}, name),
          element("strong", {}, value),
          element("small", {}, note),
        ),
      ),
    ),
    cyclesChart(data).box,
    ipusTable(data),
    element(
      "details",
      {},
      element("summary", {}, "Program and target"),
      facts([
        ["program", `${profile.program.entry}${profile.program.source ? ` of ${profile.program.source}` : ""}`],
        [
          "target",
          `${target.name}${target.emulated ? " (emulated)" : ""}, ${counted(target.ipus, "IPU")} of ` +
            `${counted(target.tiles_per_ipu, "tile")} with ${bytes(target.bytes_per_tile)}` +
            (target.replicas > 1 ? `; ${whole(target.replicas)} replicas, of which this is one` : ""),
        ],
        ["clock", `${Number((target.clock_hz / 1e9).toPrecision(4))} GHz`],
        [
          "peak",
          Object.entries(target.peak_flops)
            .map(([type, peak]) => `${flops(peak, "FLOP/s")} in ${type}`)
            .join(", "),
        ],
        [
          "exchange, sync",
          `${target.exchange_bytes_per_cycle} B per cycle and tile; ${whole(target.sync_cycles)} cycles a sync`,
        ],
        [
          "steps",
          `${whole(data.steps.length)} steps, ${whole(compilation.compute_sets.length)} compute sets, ${counted(
            compilation.compute_sets.reduce((sum, set) => sum + set.vertices, 0),
            "vertex",
          ).replace("vertexs", "vertices")}`,
        ],
        ["moved between tiles", bytes(execution.bytes_exchanged)],
        ["memory of all tiles", bytes(memory.total_bytes)],
        ["counts of loops", execution.measured ? "measured in a run" : "from the program's constants, not from a run"],
        execution.unknown_counts.length && ["counts not known", execution.unknown_counts.join(", ")],
        ["profile", `${data.file}, written by ${profile.producer.name} ${profile.producer.version}`],
      ]),
    ),
  );
}

const fitClass = (fit) => fit.replaceAll(" ", "-");

/** What each of several IPUs does: cycles of each kind, and of waiting for others. */
function ipusTable(data) {
  const { ipus, cycles: spent } = data.execution;
  if (ipus.length < 2) return null;
  const names = { ...KINDS, waiting: "waiting" };
  const numbers = ["IPU", ...Object.values(names)];
  const head = [
    element("th", { scope: "col" }, "shard"),
    ...numbers.map((text) => element("th", { scope: "col", class: "number" }, text)),
  ];
  const rows = ipus.map((each, shard) =>
    element(
      "tr",
      {},
      element("th", { scope: "row" }, whole(shard)),
      element("td", { class: "number" }, whole(each.ipu)),
      ...Object.keys(names).map((kind) =>
        element("td", { class: "number" }, shareBar(each[kind] / (spent.total || 1), kind)),
      ),
    ),
  );
  const table = element(
    "table",
    { class: "times" },
    element("thead", {}, element("tr", {}, ...head)),
    element("tbody", {}, ...rows),
  );
  return element("details", {}, element("summary", {}, "IPUs"), element("div", { class: "scroll" }, table));
}

/** One bar: the share of each kind in all cycles; those of IPUs that work at the same time are added up. */
function cyclesChart(data) {
  const spent = data.execution.cycles;
  const all = spent.total + spent.overlapped || 1;
  const kinds = Object.keys(KINDS).filter((kind) => spent[kind]);
  const option = () => ({
    grid: { left: 0, right: 0, top: 28, bottom: 4 },
    xAxis: { type: "value", max: all, show: false },
    yAxis: { type: "category", data: ["cycles"], show: false },
    legend: { ...legendLook(), selectedMode: false },
    tooltip: {
      ...tooltipLook(),
      trigger: "axis",
      axisPointer: { type: "none" },
      formatter: () =>
        tip(
          `${cycles(spent.total)}`,
          kinds.map((kind) => [
            colour(kind),
            KINDS[kind],
            `${cycles(spent[kind])}, ${percent(spent[kind] / all)}`,
          ]),
        ),
    },
    series: kinds.map((kind) => ({
      type: "bar",
      name: KINDS[kind],
      stack: "cycles",
      barWidth: 26,
      data: [spent[kind]],
      itemStyle: { color: colour(kind), borderColor: colour("surface"), borderWidth: 1 },
      label: {
        show: spent[kind] > 0.07 * all,
        color: colour("on-kind"),
        formatter: () => percent(spent[kind] / all),
      },
    })),
  });
  const words = kinds.map((kind) => `${KINDS[kind]} ${percent(spent[kind] / spent.total)}`).join(", ");
  return chart({ id: "cycles-chart", label: `Where the cycles go: ${words}`, height: 62, option });
}
