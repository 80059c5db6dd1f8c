// Bytes that live while each step runs, on the tile that is worst then.

function livenessSection(data) {
  const position = new Map(data.steps.map((step, index) => [step.id, index]));
  const fullest = data.steps.map((step) => {
    const always = Math.min(step.live_bytes_worst, data.perTile.always_live[step.worst_tile] ?? 0);
    return { step, tile: step.worst_tile, always, temporary: step.live_bytes_worst - always };
  });
  let live = fullest;
  const ofTile = (text) => {
    const tile = text === "" ? null : Math.max(0, Math.min(data.target.num_tiles - 1, Math.round(Number(text)) || 0));
    tileInput.value = tile ?? "";
    live = tile === null ? fullest : liveOnTile(data, tile, position);
    remember("live", tile);
    drawn.redraw();
    show(Number(input.value));
  };
  const tileInput = element("input", {
    type: "number",
    min: 0,
    max: data.target.num_tiles - 1,
    id: "live-tile",
    placeholder: "fullest",
    onchange: () => ofTile(tileInput.value),
  });
  link("live", ofTile);
  const panel = element("div", { class: "panel", "aria-live": "polite" });
  const input = element("input", {
    type: "number",
    min: 0,
    max: data.steps.length - 1,
    id: "live-step",
    onchange: () => show(Number(input.value)),
  });
  const show = (index) => {
    const chosen = Math.max(0, Math.min(live.length - 1, Math.round(index) || 0));
    input.value = chosen;
    if (live.length) panel.replaceChildren(...liveDetails(data, live[chosen], chosen, position));
  };
  const worst = live.reduce(
    (best, each, index) => (each.always + each.temporary > live[best].always + live[best].temporary ? index : best),
    0,
  );
  show(worst);
  const limits = limitBox(() => drawn.redraw());
  const drawn = livenessChart(data, () => live, show, limits.on);
  return section(
    "liveness",
    "Liveness over steps",
    "When is memory short, and what lives then? Each step on the tile that is fullest then, or on one of your choice; click a step for its variables.",
    drawn.box,
    element(
      "div",
      { class: "tools" },
      element("label", { for: "live-step" }, "Step"),
      input,
      element("button", { onclick: () => show(worst) }, "Worst step"),
      element("label", { for: "live-tile" }, "on tile"),
      tileInput,
      element("button", { onclick: () => ofTile("") }, "Fullest tile of each step"),
      limits.box,
    ),
    panel,
  );
}

/** What lives on one tile in each step. */
function liveOnTile(data, tile, position) {
  const always = data.perTile.always_live[tile];
  const changes = new Float64Array(data.steps.length + 1);
  const on = new Map();
  const held = (index) => {
    if (!on.has(index)) on.set(index, expandPart(data.compilation.tile_bytes[index], tile, 1)[0]);
    return on.get(index);
  };
  for (const variable of data.compilation.variables) {
    if (variable.first_step === null && variable.last_step === null) continue;
    changes[variable.first_step === null ? 0 : position.get(variable.first_step)] += held(variable.bytes_per_tile);
    if (variable.last_step !== null) changes[position.get(variable.last_step) + 1] -= held(variable.bytes_per_tile);
  }
  let temporary = 0;
  return data.steps.map((step, index) => ({ step, tile, always, temporary: (temporary += changes[index]) }));
}

function livenessChart(data, lives, onStep, toLimit) {
  const { limit } = data.compilation.memory;
  const option = (range) => {
    const live = lives();
    const highest = live.reduce((most, { always, temporary }) => Math.max(most, always + temporary), 0);
    const view = tilesInView(range, live.length);
    const area = (name, key, kind, more = {}) => ({
      type: "line",
      name,
      step: "middle",
      symbol: "none",
      silent: true,
      stack: "live",
      data: stepPoints(
        bucketed(
          live.map((each) => each[key]),
          view,
        ).max,
        view,
      ),
      lineStyle: { width: 0.5, color: colour(kind) },
      itemStyle: { color: colour(kind) },
      areaStyle: { color: colour(kind), opacity: 1 },
      ...more,
    });
    return {
      grid: { left: 70, right: 16, top: 34, bottom: 70 },
      legend: legendLook(),
      xAxis: axis({
        min: -0.5,
        max: live.length - 0.5,
        name: "step",
        axisLabel: { formatter: (index) => (Number.isInteger(index) ? whole(index) : "") },
        splitLine: { show: false },
      }),
      yAxis: bytesAxis(toLimit() ? Math.max(highest, limit) : highest),
      dataZoom: zoom(range),
      tooltip: {
        ...tooltipLook(),
        trigger: "axis",
        axisPointer: { type: "line", lineStyle: { color: colour("muted") } },
        formatter: ([{ axisValue }]) =>
          liveTip(data, live[Math.max(0, Math.min(live.length - 1, Math.round(axisValue)))], limit),
      },
      series: [
        area("always live", "always", "arguments"),
        area("temporaries", "temporary", "temporaries", { markLine: limitLines([limit]) }),
      ],
    };
  };
  return chart({
    id: "liveness-chart",
    label: `Live bytes over ${counted(data.steps.length, "step")}, against ${bytes(limit)}`,
    height: 320,
    option,
    onclick: (event, drawn) => {
      const index = clickedX(event, drawn);
      if (index !== null) onStep(index);
    },
  });
}

function liveTip(data, { step, tile, always, temporary }, limit) {
  return tip(`Step ${step.id}: ${step.name}`, [
    [null, tile === step.worst_tile ? "fullest tile then" : "on tile", tileName(data, tile)],
    [colour("temporaries"), "temporaries there", bytes(temporary)],
    [colour("arguments"), "always live there", bytes(always)],
    [null, "of the limit", percent((always + temporary) / limit)],
    [null, "on all tiles", bytes(step.live_bytes_total)],
  ]);
}

function liveDetails(data, { step, tile, always, temporary }, index, position) {
  const live = data.compilation.variables.filter((variable) => livesAt(variable, index, position));
  const passing = live.filter((variable) => variable.first_step !== null || variable.last_step !== null);
  const staying = live.filter((variable) => variable.first_step === null && variable.last_step === null);
  const largest = (variables) => variables.sort((a, b) => b.bytes_worst_tile - a.bytes_worst_tile).slice(0, 6);
  const list = (title, variables) =>
    element(
      "div",
      { class: "wide" },
      element("h4", {}, title),
      variables.length ? variablesTable(largest(variables)) : element("p", {}, "None."),
    );
  const { limit } = data.compilation.memory;
  return [
    element(
      "h3",
      {},
      `Step ${step.id}: ${step.name}: ${bytes(always + temporary)} on tile `,
      `${tileName(data, tile)}${tile === step.worst_tile ? ", the fullest then" : ""}; ${percent((always + temporary) / limit)} of the limit`,
    ),
    element(
      "div",
      { class: "columns" },
      list(
        `Largest of ${counted(passing.length, "temporary").replace("temporarys", "temporaries")} that live then`,
        passing,
      ),
      list(`Largest of ${whole(staying.length)} that always live`, staying),
    ),
  ];
}
