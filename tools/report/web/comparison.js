// Two profiles side by side: totals, ops with the same name and location, and the memory of their tiles.

function comparisonSection(data, other, { words, totals, ops }) {
  return section(
    "comparison",
    "Comparison",
    `What changed? This is ${data.file}; the other is ${other.file}.`,
    element("p", { class: "words" }, words),
    totalsTable(totals, data.file, other.file),
    element("h3", {}, "Peak of each tile"),
    overlayChart(data, other).box,
    element("h3", {}, "Operations, most changed first"),
    dataTable({
      id: "comparison-table",
      caption: "Operations of both profiles",
      rows: ops
        .map((row) => ({ ...row, changed: (row.this?.cycles ?? 0) - (row.other?.cycles ?? 0) }))
        .map((row) => ({ ...row, size: Math.abs(row.changed) })),
      sort: "difference in size",
      search: "Search names and locations",
      columns: [
        { title: "operation", value: (row) => row.name },
        { title: "location", place: true, value: (row) => row.location ?? "" },
        sideColumn("cycles, this", "this", "cycles", whole),
        sideColumn("cycles, other", "other", "cycles", whole),
        {
          ...number("difference in size", (row) => row.size),
          text: (row) => `${row.changed > 0 ? "+" : row.changed < 0 ? "−" : ""}${whole(row.size)}`,
          node: differenceNode,
        },
        sideColumn("memory, this", "this", "bytes", bytes),
        sideColumn("memory, other", "other", "bytes", bytes),
      ],
    }),
  );
}

const sideColumn = (title, side, field, format) =>
  number(
    title,
    (row) => row[side]?.[field] ?? null,
    (row) => (row[side] ? format(row[side][field]) : "not there"),
  );

function differenceNode(row) {
  if (!row.this) return element("span", { class: "better" }, `gone, −${whole(row.size)}`);
  if (!row.other) return element("span", { class: "worse" }, `new, +${whole(row.size)}`);
  const sign = row.changed > 0 ? "+" : row.changed < 0 ? "−" : "";
  const words = `${sign}${whole(row.size)}${row.changed ? `, ${change(row.this.cycles, row.other.cycles)}` : ""}`;
  return element("span", { class: row.changed > 0 ? "worse" : row.changed < 0 ? "better" : null }, words);
}

/** Rows in which less is not better. */
const MORE_IS_BETTER = new Set(["operations per second", "tile balance"]);
const NEUTRAL = new Set(["operations", "limit of a tile"]);

function totalsTable(totals, file, otherFile) {
  const head = ["", `this: ${file}`, `other: ${otherFile}`, "change"].map((text, index) =>
    element("th", { scope: "col", class: index ? "number" : null }, text),
  );
  const rows = totals.map((row) => {
    const better =
      row.this === row.other || NEUTRAL.has(row.name)
        ? null
        : row.this > row.other === MORE_IS_BETTER.has(row.name)
          ? "better"
          : "worse";
    const format = UNITS[row.unit];
    return element(
      "tr",
      {},
      element("th", { scope: "row" }, row.name),
      element("td", { class: "number" }, format(row.this)),
      element("td", { class: "number" }, format(row.other)),
      element(
        "td",
        { class: `number ${better ?? ""}` },
        change(row.this, row.other),
        better && element("span", { class: "word" }, ` ${better}`),
      ),
    );
  });
  return element(
    "div",
    { class: "scroll", id: "comparison-totals" },
    element("table", {}, element("thead", {}, element("tr", {}, ...head)), element("tbody", {}, ...rows)),
  );
}

function overlayChart(data, other) {
  const tiles = Math.max(data.target.num_tiles, other.target.num_tiles);
  const limits = [...new Set([data, other].map((each) => each.compilation.memory.limit))];
  const highest = Math.max(...limits, ...[data, other].map((each) => each.compilation.memory.worst_bytes));
  const curve = (name, each, kind, style, view) => ({
    type: "line",
    name,
    step: "middle",
    symbol: "none",
    silent: true,
    data: stepPoints(bucketed(each.perTile.peak, view).max, view),
    lineStyle: { width: 1.8, color: colour(kind), type: style },
    itemStyle: { color: colour(kind) },
  });
  const option = (range) => {
    const view = tilesInView(range, tiles);
    const ours = curve("this", data, "compute", "solid", view);
    return {
      grid: { left: 70, right: 16, top: 34, bottom: 70 },
      legend: legendLook(),
      xAxis: axis({
        min: -0.5,
        max: tiles - 0.5,
        name: view.exact ? "tile" : "tile (highest of each bucket)",
        axisLabel: { formatter: (tile) => (Number.isInteger(tile) ? whole(tile) : "") },
        splitLine: { show: false },
      }),
      yAxis: bytesAxis(highest),
      dataZoom: zoom(range),
      tooltip: {
        ...tooltipLook(),
        trigger: "axis",
        formatter: ([{ axisValue }]) => {
          const shown = tilesInView(range, tiles);
          const bucket = bucketOf(Math.round(axisValue), shown);
          const one = { edges: [shown.edges[bucket], shown.edges[bucket + 1]] };
          const [a, b] = [data, other].map((each) => bucketed(each.perTile.peak, one).max[0]);
          const title =
            one.edges[1] - one.edges[0] === 1
              ? `Tile ${whole(one.edges[0])}`
              : `Tiles ${whole(one.edges[0])} – ${whole(one.edges[1] - 1)}, highest`;
          return tip(title, [
            [colour("compute"), "this", bytes(a)],
            [colour("exchange"), "other", bytes(b)],
            [null, "change", change(a, b)],
          ]);
        },
      },
      series: [{ ...ours, markLine: limitLines(limits) }, curve("other", other, "exchange", "dashed", view)],
    };
  };
  return chart({ id: "overlay-chart", label: "Peak bytes of each tile in both profiles", height: 300, option });
}
