// Puts the sections together.

const { shown, comparison } = await unpack();
const [data, other] = shown.map(indexed);

const tree = treeSection(data, (id) => trace.show(id));
const memory = memorySection(data);
const tileMap = tileMapSection(data, memory.show, (id) => trace.show(id));
const ops = opsSection(data, (id) => trace.show(id));
const trace = traceSection(data, { onTiles: tileMap.show, showOp: ops.show });
const variables = variablesSection(data);
const sections = [
  problemsSection(data),
  summarySection(data),
  comparison && comparisonSection(data, other, comparison),
  adviceSection(data, trace.show),
  tileMap.made,
  memory.made,
  livenessSection(data),
  trace.made,
  exchangesSection(data, trace.show),
  tree,
  ops.made,
  variables.made,
].filter(Boolean);

const source = data.profile.program.source;
const patternsBox = element("input", {
  type: "checkbox",
  onchange: () => ((patterns = patternsBox.checked), redrawCharts()),
});
document
  .getElementById("top")
  .append(
    element(
      "div",
      { class: "title" },
      element(
        "h1",
        {},
        source ? `${source.split("/").at(-1)}: ${data.profile.program.entry}` : data.profile.program.entry,
      ),
      element("span", { class: `badge ${fitClass(data.verdict.fit)}` }, FITS[data.verdict.fit]),
      element(
        "span",
        { class: "on" },
        `on ${data.target.name}, ` +
          (data.target.replicas > 1 ? `${whole(data.target.replicas)} replicas of ` : "") +
          `${counted(data.target.ipus, "IPU")} × ${counted(data.target.tiles_per_ipu, "tile")}`,
      ),
      searchBox(data, { showStep: trace.show, showVariable: variables.show, showOp: ops.show }),
      element("label", { class: "patterns" }, patternsBox, "patterns in charts"),
    ),
    element(
      "nav",
      { "aria-label": "Sections" },
      ...sections.map((each) =>
        element(
          "a",
          { href: `#${each.id}`, onclick: (event) => (event.preventDefault(), goTo(each.id)) },
          each.querySelector("h2").textContent,
        ),
      ),
    ),
  );
document.getElementById("report").replaceChildren(...sections);
await startCharts();
followAddress();
window.addEventListener("hashchange", followAddress);
document.documentElement.dataset.ready = "yes";
