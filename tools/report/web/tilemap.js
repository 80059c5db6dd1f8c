// A map of the tiles of an IPU: for how long each works, and how much lies on it, over the steps of the program.

const MAPS = {
  total: "cycles at work in the whole run",
  busy: "cycles at work in the step",
  live: "bytes that live in the step",
  peak: "bytes at the worst moment",
};

function tileMapSection(data, showTile, showStep) {
  const each = data.target.tiles_per_ipu;
  const position = new Map(data.steps.map((step, index) => [step.id, index]));
  const spent = ({ id }) => {
    const { busy, count, compute, exchange } = data.executed.get(id) ?? NOTHING;
    return busy === undefined ? 0 : count * (compute + exchange);
  };
  const busiest = data.steps.reduce((best, step, index) => (spent(step) > spent(data.steps[best]) ? index : best), 0);
  const now = { what: "total", index: busiest, ipu: 0, values: new Float64Array(each) };
  const cut = new Map();
  const part = (runs) => {
    if (!cut.has(runs)) cut.set(runs, expandPart(runs, now.ipu * each, each));
    return cut.get(runs);
  };

  function compute() {
    const values = new Float64Array(each);
    const add = (runs, factor) => part(runs).forEach((value, tile) => (values[tile] += factor * value));
    const step = data.steps[now.index];
    if (now.what === "total") {
      const runs = new Map();
      for (const { busy, count } of data.execution.steps)
        if (busy !== undefined && count) runs.set(busy, (runs.get(busy) ?? 0) + count);
      for (const [index, count] of runs) add(data.execution.tile_cycles[index], count);
    } else if (now.what === "busy") {
      const { busy } = data.executed.get(step?.id) ?? NOTHING;
      if (busy !== undefined) add(data.execution.tile_cycles[busy], 1);
    } else if (now.what === "peak") add(data.compilation.memory.per_tile.peak, 1);
    else {
      add(data.compilation.memory.per_tile.always_live, 1);
      for (const variable of data.compilation.variables)
        if ((variable.first_step !== null || variable.last_step !== null) && livesAt(variable, now.index, position))
          add(data.compilation.tile_bytes[variable.bytes_per_tile], 1);
    }
    now.values = values;
  }

  const inBytes = () => now.what === "live" || now.what === "peak";
  const textOf = (value) => (inBytes() ? bytes(value) : cycles(Math.round(value)));
  const highest = () => now.values.reduce((most, value) => Math.max(most, value), 0);
  const columns = Math.min(each, Math.max(8, Math.round(Math.sqrt(each * 1.45))));
  const grid = cellGrid({
    id: "tile-map",
    label: `A map of ${counted(each, "tile")} of an IPU`,
    shape: () => ({ columns, rows: Math.ceil(each / columns), cells: each }),
    value: (cell) => now.values[cell],
    most: highest,
    text: textOf,
    about: (cell) =>
      tip(`Tile ${tileName(data, now.ipu * each + cell)}`, [
        [colour("compute"), MAPS[now.what], textOf(now.values[cell])],
      ]),
    onchoose: (cell) => showTile(now.ipu * each + cell),
  });

  const what = element(
    "select",
    { "aria-label": "What the map shows", onchange: () => ((now.what = what.value), update()) },
    ...Object.entries(MAPS).map(([key, words]) => element("option", { value: key }, words)),
  );
  const slider = element("input", {
    type: "range",
    min: 0,
    max: Math.max(0, data.steps.length - 1),
    "aria-label": "Step",
    oninput: () => at(Number(slider.value)),
  });
  const said = element("button", { class: "link", onclick: () => showStep(data.steps[now.index]?.id) });
  const chooser =
    data.target.ipus > 1 &&
    element(
      "select",
      { "aria-label": "IPU", onchange: () => ((now.ipu = Number(chooser.value)), cut.clear(), update()) },
      ...Array.from({ length: data.target.ipus }, (_, ipu) => element("option", { value: ipu }, `IPU ${ipu}`)),
    );
  let timer = null;
  const play = element("button", { onclick: () => (timer ? stop() : start()) }, "Play");
  const stop = () => (clearInterval(timer), (timer = null), (play.textContent = "Play"));
  function start() {
    if (!now.what.match(/busy|live/)) what.value = now.what = "busy";
    play.textContent = "Stop";
    timer = setInterval(() => (now.index + 1 < data.steps.length ? at(now.index + 1) : stop()), 150);
  }

  function at(index) {
    now.index = Math.max(0, Math.min(data.steps.length - 1, index));
    update();
  }

  const words = element("p", { class: "count", role: "status" });
  function update() {
    draw();
    remember("map", now.what === "total" ? null : now.what);
    remember("at", isOfStep() ? now.index : null);
  }

  const isOfStep = () => now.what === "busy" || now.what === "live";
  function draw() {
    compute();
    slider.value = now.index;
    const ofStep = isOfStep();
    slider.hidden = play.hidden = !ofStep;
    said.hidden = !ofStep || !data.steps.length;
    said.textContent = data.steps.length ? `Step ${data.steps[now.index].id}: ${data.steps[now.index].name}` : "";
    const mean = now.values.reduce((sum, value) => sum + value, 0) / (each || 1);
    const none = now.values.reduce((count, value) => count + (value === 0), 0);
    words.textContent =
      `Most ${textOf(highest())}, mean ${textOf(mean)}` + (none ? `; nothing on ${counted(none, "tile")}.` : ".");
    grid.redraw();
  }
  compute();
  link("map", (text) => text in MAPS && ((what.value = now.what = text), update()));
  link("at", (text) => at(Number(text) || 0));
  const made = section(
    "tiles",
    "Tile map",
    "Which tiles work, and which are full? Choose a step, or play them; click a tile for what lies on it.",
    element("div", { class: "tools" }, what, chooser, slider, play, said),
    words,
    grid.box,
  );
  requestAnimationFrame(draw);
  return {
    made,
    show: (id) => {
      if (!now.what.match(/busy|live/)) what.value = now.what = "busy";
      at(position.get(id) ?? 0);
      goTo("tiles");
    },
  };
}

const NOTHING = { count: 0, compute: 0, exchange: 0 };

/** The numbers of ``count`` tiles from ``first`` on, from runs of equal ones. */
function expandPart(runs, first, count) {
  const values = new Float64Array(count);
  let tile = -first;
  for (const [value, length] of runs) {
    const [from, to] = [Math.max(0, tile), Math.min(count, tile + length)];
    if (to > from) values.fill(value, from, to);
    tile += length;
    if (tile >= count) break;
  }
  return values;
}
