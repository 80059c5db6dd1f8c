// Who sends to whom: bytes between groups of tiles, in one execution of an exchange.

function exchangesSection(data, showStep) {
  const { traffic, group_tiles: size } = data.execution;
  const known = data.execution.steps
    .filter((step) => step.traffic !== undefined && step.count)
    .map((step) => ({ ...step, spent: step.count * (step.exchange + step.inter_ipu) }))
    .sort((a, b) => b.spent - a.spent);
  if (!known.length) return null;
  const groups = Math.ceil(data.target.num_tiles / size);
  const now = { step: known[0], cells: new Float64Array(groups * groups) };

  function choose(step) {
    now.step = step;
    now.cells = new Float64Array(groups * groups);
    for (const [from, to, moved] of traffic[step.traffic]) now.cells[from * groups + to] += moved;
  }

  const groupName = (group) => {
    const [first, last] = [group * size, Math.min(data.target.num_tiles, (group + 1) * size) - 1];
    return first === last ? `tile ${whole(first)}` : `tiles ${whole(first)} – ${whole(last)}`;
  };
  const grid = cellGrid({
    id: "exchange-matrix",
    label: `Bytes between ${counted(groups, "group")} of tiles`,
    shape: () => ({ columns: groups, rows: groups, cells: groups * groups }),
    value: (cell) => (Math.floor(cell / groups) === cell % groups ? NaN : now.cells[cell]),
    most: () => now.cells.reduce((most, value) => Math.max(most, value), 0),
    text: bytes,
    about: (cell) =>
      tip(`From ${groupName(Math.floor(cell / groups))} to ${groupName(cell % groups)}`, [
        [colour("exchange"), "moved", bytes(now.cells[cell])],
      ]),
    height: 360,
  });
  const shown = new Map(known.map((step) => [String(step.step), step]));
  const words = element("p", { class: "count", role: "status" });
  const update = () => {
    choose(now.step);
    const sum = now.cells.reduce((all, value) => all + value, 0);
    const crossing = [...now.cells].reduce(
      (all, value, cell) => all + (ipuOf(Math.floor(cell / groups)) === ipuOf(cell % groups) ? 0 : value),
      0,
    );
    words.textContent =
      `${bytes(sum)} between groups of ${counted(size, "tile")} in one execution` +
      (data.target.ipus > 1 ? `, ${bytes(crossing)} of them between IPUs.` : ".");
    grid.redraw();
  };
  const ipuOf = (group) => Math.floor((group * size) / data.target.tiles_per_ipu);
  const chooser = element(
    "select",
    { "aria-label": "Exchange", onchange: () => ((now.step = shown.get(chooser.value)), update()) },
    ...known
      .slice(0, 200)
      .map((step) =>
        element(
          "option",
          { value: step.step },
          `Step ${step.step}: ${data.step.get(step.step).name}, ${cycles(step.spent)}`,
        ),
      ),
  );
  choose(known[0]);
  requestAnimationFrame(update);
  return section(
    "exchanges",
    "Who sends to whom",
    "Between which tiles do the longest exchanges move data? A row sends, a column receives.",
    element(
      "div",
      { class: "tools" },
      chooser,
      element("button", { onclick: () => showStep(now.step.step) }, "Show the step"),
    ),
    words,
    grid.box,
  );
}
