// One search over operations, steps, variables and lines of the source.

const MOST_FOUND = 12;

function searchBox(data, { showStep, showVariable, showOp }) {
  const entries = [
    ...data.ops.map((op) => entry("operation", op.name, op.location, sourceLine(data, op.location), () => showOp(op))),
    ...data.steps.map((step) => entry("step", `${step.id}: ${step.name}`, step.location, "", () => showStep(step.id))),
    ...data.compilation.variables.map((each) =>
      entry("variable", each.name, each.location, each.type, () => showVariable(each)),
    ),
  ];
  const list = element("ul", { class: "found", role: "listbox", hidden: true });
  const input = element("input", {
    type: "search",
    placeholder: "Search all",
    "aria-label": "Search operations, steps and variables",
    oninput: find,
    onfocus: find,
    onkeydown: (event) => {
      if (event.key === "Escape") list.hidden = true;
      if (event.key === "Enter") list.querySelector("button")?.click();
      if (event.key === "ArrowDown") list.querySelector("button")?.focus();
    },
  });

  function entry(kind, name, location, more, go) {
    return { kind, name, location, more, go, text: [name, location, more].filter(Boolean).join("\n").toLowerCase() };
  }

  function find() {
    const wanted = input.value.trim().toLowerCase();
    const found = wanted ? entries.filter((each) => each.text.includes(wanted)) : [];
    list.hidden = !wanted;
    list.replaceChildren(
      ...found
        .slice(0, MOST_FOUND)
        .map((each) =>
          element(
            "li",
            {},
            element(
              "button",
              { class: "link", onclick: () => ((list.hidden = true), each.go()) },
              element("small", {}, each.kind),
              ` ${each.name} `,
              each.location && element("small", {}, each.location),
            ),
          ),
        ),
      ...(found.length > MOST_FOUND
        ? [element("li", {}, element("small", {}, `and ${whole(found.length - MOST_FOUND)} more`))]
        : []),
      ...(found.length ? [] : [element("li", {}, element("small", {}, "Nothing found."))]),
    );
  }
  document.addEventListener("click", (event) => box.contains(event.target) || (list.hidden = true));
  const box = element("div", { class: "search", role: "search" }, input, list);
  return box;
}

/** The text of the line that a location names; empty if the profile does not have it. */
function sourceLine(data, location) {
  const [, place] = /^(.*:\d+):\d+$/.exec(location ?? "") ?? [];
  return data.line.get(place) ?? "";
}
