// Bytes of every tile, by category, against what a tile has.

function memorySection(data) {
  const panel = element("div", { class: "panel", "aria-live": "polite" });
  const input = element("input", {
    type: "number",
    min: 0,
    max: data.target.num_tiles - 1,
    id: "tile-number",
    onchange: () => chosen(Number(input.value)),
  });
  const show = (tile) => {
    const chosen = Math.max(0, Math.min(data.target.num_tiles - 1, Math.round(tile) || 0));
    input.value = chosen;
    panel.replaceChildren(...tileDetails(data, chosen));
    return chosen;
  };
  const chosen = (tile) => remember("tile", show(tile));
  link("tile", (text) => show(Number(text)));
  show(data.compilation.memory.worst_tile);
  const limits = limitBox(() => drawn.redraw());
  const drawn = memoryChart(data, chosen, limits.on);
  const made = section(
    "memory",
    "Memory per tile",
    "Which tiles are full, and of what? Zoom with the slider, or with Ctrl and the wheel; click a tile for what lies on it.",
    drawn.box,
    element(
      "div",
      { class: "tools" },
      element("label", { for: "tile-number" }, "Tile"),
      input,
      element("button", { onclick: () => chosen(data.compilation.memory.worst_tile) }, "Fullest tile"),
      limits.box,
      data.target.ipus > 1 && ipuChooser(data, drawn.zoomTo),
    ),
    panel,
  );
  return { made, show: (tile) => (chosen(tile), panel.scrollIntoView({ block: "nearest" })) };
}

/** Zooms to the tiles of one IPU. */
function ipuChooser({ target }, zoomTo) {
  const zoom = (ipu) =>
    ipu === ""
      ? zoomTo(-0.5, target.num_tiles - 0.5)
      : zoomTo(ipu * target.tiles_per_ipu - 0.5, (Number(ipu) + 1) * target.tiles_per_ipu - 0.5);
  const options = Array.from({ length: target.ipus }, (_, ipu) => element("option", { value: ipu }, `IPU ${ipu}`));
  const chooser = element(
    "select",
    { onchange: () => zoom(chooser.value) },
    element("option", { value: "" }, "all IPUs"),
    ...options,
  );
  return element("label", {}, "Zoom to ", chooser);
}

function memoryChart(data, onTile, toLimit) {
  const { limit } = data.compilation.memory;
  const tiles = data.target.num_tiles;
  const names = Object.keys(CATEGORIES).filter((name) => data.categories[name].some((value) => value > 0));
  const highest = data.compilation.memory.worst_bytes;

  const option = (range) => {
    const view = tilesInView(range, tiles);
    const peak = bucketed(data.perTile.peak, view);
    const means = names.map((name) => bucketed(data.categories[name], view).mean);
    const line = (name, values, style, more = {}) => ({
      type: "line",
      name,
      step: "middle",
      symbol: "none",
      silent: true,
      data: stepPoints(values, view),
      lineStyle: style,
      itemStyle: { color: style.color },
      ...more,
    });
    const series = names.map((name, index) =>
      line(
        CATEGORIES[name],
        means[index],
        { color: colour(name), width: 0.5 },
        { stack: "bytes", areaStyle: { color: colour(name), opacity: 1 } },
      ),
    );
    series.push(
      line(
        view.exact ? "peak" : "highest peak",
        peak.max,
        { color: colour("text"), width: 1 },
        { markLine: limitLines([limit]) },
      ),
    );
    if (!view.exact) series.push(line("lowest peak", peak.min, { color: colour("text"), width: 1, type: "dotted" }));
    return {
      grid: { left: 70, right: 16, top: range.width < 1000 ? 58 : 36, bottom: 70 },
      legend: { ...legendLook(), data: series.map((each) => ({ name: each.name })) },
      xAxis: axis({
        min: -0.5,
        max: tiles - 0.5,
        name: view.exact ? "tile" : "tile (means of buckets; zoom in for single tiles)",
        axisLabel: { formatter: (tile) => (Number.isInteger(tile) ? whole(tile) : "") },
        splitLine: { show: false },
      }),
      yAxis: bytesAxis(toLimit() ? Math.max(highest, limit) : highest),
      dataZoom: zoom(range),
      tooltip: {
        ...tooltipLook(),
        trigger: "axis",
        axisPointer: { type: "line", lineStyle: { color: colour("muted") } },
        formatter: ([{ axisValue }]) => {
          const shown = tilesInView(range, tiles);
          return memoryTip(data, names, shown, bucketOf(Math.round(axisValue), shown));
        },
      },
      series,
    };
  };
  const worst = data.compilation.memory;
  return chart({
    id: "memory-chart",
    label: `Bytes on each of ${counted(tiles, "tile")}, at most ${bytes(worst.worst_bytes)} of ${bytes(limit)}`,
    height: 380,
    option,
    onclick: (event, drawn) => {
      const tile = clickedX(event, drawn);
      if (tile !== null) onTile(tile);
    },
  });
}

function memoryTip(data, names, view, bucket) {
  const [first, last] = [view.edges[bucket], view.edges[bucket + 1] - 1];
  const one = { edges: [first, last + 1] };
  const peak = bucketed(data.perTile.peak, one);
  const mean = (values) => bytes(bucketed(values, one).mean[0]);
  const rows = names.toReversed().map((name) => [colour(name), CATEGORIES[name], mean(data.categories[name])]);
  const total =
    first === last
      ? ["peak", bytes(peak.max[0])]
      : ["peak: lowest – highest", `${bytes(peak.min[0])} – ${bytes(peak.max[0])}`];
  rows.unshift(
    [null, ...total],
    [null, "always live", mean(data.perTile.always_live)],
    [null, "peak without gaps", mean(data.perTile.without_gaps)],
  );
  const title = first === last ? `Tile ${tileName(data, first)}` : `Tiles ${whole(first)} – ${whole(last)}, means`;
  return tip(title, rows);
}

/** What lies on a tile: its categories, and the variables that may be there. */
function tileDetails(data, tile) {
  const peak = data.perTile.peak[tile];
  const { limit } = data.compilation.memory;
  const rows = Object.keys(CATEGORIES)
    .map((name) => [name, data.categories[name][tile]])
    .filter(([, value]) => value > 0)
    .sort(([, a], [, b]) => b - a)
    .map(([name, value]) => [
      CATEGORIES[name],
      element("span", { class: "pair" }, shareBar(value / limit, name), bytes(value)),
    ]);
  const there = data.compilation.variables.filter(({ tiles }) => tiles[0] <= tile && tile <= tiles[1]);
  there.sort((a, b) => b.bytes_worst_tile - a.bytes_worst_tile);
  return [
    element("h3", {}, `Tile ${tileName(data, tile)}: ${bytes(peak)} of ${bytes(limit)}, ${percent(peak / limit)}`),
    element(
      "div",
      { class: "columns" },
      element("div", {}, element("h4", {}, "By category, of its memory"), facts(rows)),
      element(
        "div",
        { class: "wide" },
        element("h4", {}, "Largest variables whose tiles include it"),
        there.length ? variablesTable(there.slice(0, 8)) : "None.",
      ),
    ),
  ];
}
