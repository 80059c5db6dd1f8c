// Tables that sort by any column and search their texts.

const ROWS_AT_ONCE = 20;

/**
 * A table of ``rows``. A column is {title, value(row), text(row) or node(row), number, place}: ``value`` sorts, numbers
 * stand right, places of the source keep some width. The table starts sorted by the column with the title ``sort``,
 * numbers largest first. ``search`` is what the search box says; null for none.
 */
function dataTable({ id, caption, rows, columns, sort, search = null, empty = "Nothing here." }) {
  const order = { column: columns.find((column) => column.title === sort), down: true };
  order.down = Boolean(order.column.number);
  let shown = ROWS_AT_ONCE;
  let wanted = "";
  const texts = new Map();
  const textOf = (row) =>
    texts.get(row) ??
    texts
      .set(
        row,
        columns
          .map((column) => String(column.text?.(row) ?? column.value(row) ?? ""))
          .join("\n")
          .toLowerCase(),
      )
      .get(row);
  const body = element("tbody");
  const count = element("span", { class: "count", role: "status" });
  const more = element("button", { class: "more", onclick: () => ((shown += 10 * ROWS_AT_ONCE), fill()) }, "Show more");
  const heads = columns.map((column) =>
    element(
      "th",
      { scope: "col", class: column.number ? "number" : null },
      element("button", { onclick: () => sortBy(column) }, column.title),
    ),
  );

  function sortBy(column) {
    order.down = order.column === column ? !order.down : Boolean(column.number);
    order.column = column;
    fill();
  }

  function compare(a, b) {
    const [x, y] = [order.column.value(a), order.column.value(b)];
    if (x === y) return 0;
    if (x === null || x === undefined) return 1;
    if (y === null || y === undefined) return -1;
    const ascending = typeof x === "string" ? x.localeCompare(y, "en", { numeric: true }) : x - y;
    return order.down ? -ascending : ascending;
  }

  function fill() {
    const found = rows.filter((row) => textOf(row).includes(wanted)).sort(compare);
    body.replaceChildren(...found.slice(0, shown).map(line));
    if (!found.length)
      body.append(
        element(
          "tr",
          {},
          element(
            "td",
            { colspan: columns.length, class: "empty" },
            rows.length ? `Nothing contains '${wanted}'.` : empty,
          ),
        ),
      );
    count.textContent = wanted ? `${whole(found.length)} of ${whole(rows.length)}` : counted(rows.length, "row");
    more.hidden = found.length <= shown;
    heads.forEach((head, index) => {
      const active = columns[index] === order.column;
      head.setAttribute("aria-sort", active ? (order.down ? "descending" : "ascending") : "none");
    });
  }

  function line(row) {
    return element(
      "tr",
      {},
      ...columns.map((column) =>
        element(
          "td",
          { class: column.number ? "number" : column.place ? "place" : null },
          column.node?.(row) ?? column.text?.(row) ?? String(column.value(row) ?? "–"),
        ),
      ),
    );
  }

  const box =
    search &&
    element("input", {
      type: "search",
      placeholder: search,
      "aria-label": search,
      oninput: (event) => ((wanted = event.target.value.trim().toLowerCase()), fill()),
    });
  fill();
  return element(
    "div",
    { class: "table", id },
    search && element("div", { class: "tools" }, box, count),
    element(
      "div",
      { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
      element("table", {}, element("thead", {}, element("tr", {}, ...heads)), body),
    ),
    more,
  );
}
