// Puts the sections together.

const { shown, comparison } = await unpack();
const [data, other] = shown.map(indexed);

const trace = traceSection(data);
const sections = [
  problemsSection(data),
  summarySection(data),
  comparison && comparisonSection(data, other, comparison),
  adviceSection(data, trace.show),
  memorySection(data),
  livenessSection(data),
  trace.made,
  treeSection(data, trace.show),
  opsSection(data),
  variablesSection(data),
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
        `on ${data.target.name}, ${counted(data.target.ipus, "IPU")} × ${counted(data.target.tiles_per_ipu, "tile")}`,
      ),
      element("label", { class: "patterns" }, patternsBox, "patterns in charts"),
    ),
    element(
      "nav",
      { "aria-label": "Sections" },
      ...sections.map((each) => element("a", { href: `#${each.id}` }, each.querySelector("h2").textContent)),
    ),
  );
document.getElementById("report").replaceChildren(...sections);
await startCharts();
document.documentElement.dataset.ready = "yes";
