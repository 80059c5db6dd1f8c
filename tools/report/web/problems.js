// What does not fit, with the largest tensors there and what to try.

const PROBLEMS = {
  tiles: "Out of memory on the tiles",
  one_tile: "Out of memory on one tile",
  code: "Too much code",
  host_streams: "Out of memory for streams on the host",
  remote: "Out of remote memory",
};

function problemsSection(data) {
  const problems = data.compilation.problems;
  if (!problems.length) return null;
  const note = data.target.emulated ? " The target is emulated, so that the profile is complete all the same." : "";
  return section(
    "problems",
    "Problems",
    `The program does not fit the target.${note}`,
    ...problems.map((problem) => problemCard(data, problem)),
  );
}

function problemCard(data, problem) {
  const step = data.step.get(problem.step);
  const largest = problem.largest.map((id) => data.variable.get(id)).filter(Boolean);
  return element(
    "article",
    { class: "problem" },
    element(
      "h3",
      {},
      PROBLEMS[problem.kind] ?? problem.kind,
      problem.over_bytes ? element("span", { class: "over" }, `${bytes(problem.over_bytes)} over`) : null,
    ),
    element(
      "div",
      { class: "columns" },
      element(
        "div",
        {},
        element("h4", {}, "Where"),
        facts([
          ["tile", problem.tile === null ? "all" : tileName(data, problem.tile)],
          ["step", step ? `${step.id}: ${step.name}` : "all the time"],
          step?.location && ["location", step.location],
        ]),
      ),
      problem.try.length
        ? element(
            "div",
            {},
            element("h4", {}, "What to try"),
            element("ul", {}, ...problem.try.map((text) => element("li", {}, text))),
          )
        : null,
    ),
    largest.length ? element("div", {}, element("h4", {}, "Largest tensors there"), variablesTable(largest)) : null,
    element("details", {}, element("summary", {}, "The compiler\'s message"), element("p", {}, problem.message)),
  );
}

/** A short table of variables, in the order given. */
function variablesTable(variables, caption = "Variables") {
  const titles = ["name", "type", "fullest tile", "all tiles", "tiles"];
  const head = titles.map((text, index) => element("th", { scope: "col", class: index > 1 ? "number" : null }, text));
  const place = ({ name, location }) =>
    location && !name.includes(location) ? element("small", {}, ` ${location}`) : null;
  const rows = variables.map((variable) =>
    element(
      "tr",
      {},
      element("td", {}, variable.name, place(variable)),
      element("td", {}, element("code", {}, variable.type)),
      element("td", { class: "number" }, bytes(variable.bytes_worst_tile)),
      element("td", { class: "number" }, bytes(variable.bytes_total)),
      element("td", { class: "number" }, whole(variable.tiles[2])),
    ),
  );
  const table = element("table", {}, element("thead", {}, element("tr", {}, ...head)), element("tbody", {}, ...rows));
  return element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption }, table);
}
