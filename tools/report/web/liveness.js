// Bytes that live while each step runs, on the tile that is worst then.

function livenessSection(data) {
  const position = new Map(data.steps.map((step, index) => [step.id, index]));
  const live = data.steps.map((step) => {
    const always = Math.min(step.live_bytes_worst, data.perTile.always_live[step.worst_tile] ?? 0);
    return { step, always, temporary: step.live_bytes_worst - always };
  });
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
  const drawn = livenessChart(data, live, show, limits.on);
  return section(
    "liveness",
    "Liveness over steps",
    "When is memory short, and what lives then? Each step on the tile that is fullest then; click one for its variables.",
    drawn.box,
    element(
      "div",
      { class: "tools" },
      element("label", { for: "live-step" }, "Step"),
      input,
      element("button", { onclick: () => show(worst) }, "Worst step"),
      limits.box,
    ),
    panel,
  );
}

function livenessChart(data, live, onStep, toLimit) {
  const { limit } = data.compilation.memory;
  const highest = Math.max(...live.map(({ step }) => step.live_bytes_worst), 0);
  const option = (range) => {
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
    label: `Live bytes over ${counted(live.length, "step")}, against ${bytes(limit)}`,
    height: 320,
    option,
    onclick: (event, drawn) => {
      const index = clickedX(event, drawn);
      if (index !== null) onStep(index);
    },
  });
}

function liveTip(data, { step, always, temporary }, limit) {
  return tip(`Step ${step.id}: ${step.name}`, [
    [null, "fullest tile then", tileName(data, step.worst_tile)],
    [colour("temporaries"), "temporaries there", bytes(temporary)],
    [colour("arguments"), "always live there", bytes(always)],
    [null, "of the limit", percent((always + temporary) / limit)],
    [null, "on all tiles", bytes(step.live_bytes_total)],
  ]);
}

function liveDetails(data, { step, always, temporary }, index, position) {
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
      `${tileName(data, step.worst_tile)}, the fullest then; ${percent((always + temporary) / limit)} of the limit`,
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
