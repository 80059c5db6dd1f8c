// Elements without HTML texts: every text becomes a text node, so that no name of a program can turn into markup.

/** An element; attributes that begin with "on" are listeners; children are nodes, texts, or nothing. */
function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (value === true) made.setAttribute(key, "");
    else if (value !== false && value !== null && value !== undefined) made.setAttribute(key, value);
  }
  made.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return made;
}

/** A section of the report with its heading and the question that it answers. */
function section(id, title, question, ...children) {
  const heading = element("h2", { id: `${id}-title` }, title);
  return element(
    "section",
    { id, "aria-labelledby": `${id}-title` },
    heading,
    element("p", { class: "question" }, question),
    ...children,
  );
}

/** A small table of a name and a value per row; values are texts or nodes. */
function facts(rows) {
  const body = rows
    .filter(Boolean)
    .map(([name, value]) => element("tr", {}, element("th", { scope: "row" }, name), element("td", {}, value)));
  return element("table", { class: "facts" }, element("tbody", {}, ...body));
}

/** A bar for a share between 0 and 1, beside its number. */
function shareBar(share, kind = "compute") {
  const bar = element("span", { class: "bar", "aria-hidden": "true" });
  bar.style.setProperty("--share", Math.max(0, Math.min(1, share ?? 0)));
  bar.style.setProperty("--kind", `var(--${kind})`);
  return element("span", { class: "share" }, bar, percent(share));
}

/** What a tooltip shows: a title, and rows of a colour (or null), a name and a value. */
function tip(title, rows, note = null) {
  const line = ([colour, name, value]) => {
    const mark = element("span", { class: "mark" });
    if (colour) mark.style.background = colour;
    return element(
      "tr",
      {},
      element("td", {}, mark),
      element("td", {}, name),
      element("td", { class: "number" }, value),
    );
  };
  return element(
    "div",
    { class: "tip" },
    element("strong", {}, title),
    element("table", {}, ...rows.map(line)),
    note && element("p", {}, note),
  );
}
