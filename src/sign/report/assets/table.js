// Sortable tables. The first rows are shown at once; the others on request.

const SHOWN = 50;
const unfolded = new Set();

function compare(a, b) {
  if (a === null || a === "") return b === null || b === "" ? 0 : 1;
  if (b === null || b === "") return -1;
  if (typeof a === "number" && typeof b === "number") return a - b;
  return String(a).localeCompare(String(b), "en", { numeric: true });
}

function sorted(rows, table, order) {
  const [key, direction] = (order || "").split(",");
  const index = table.columns.findIndex((column) => column.key === key);
  if (index < 0) return rows;
  const missing = (row) => row.values[index] === null || row.values[index] === "";
  return [...rows].sort((a, b) => {
    if (missing(a) || missing(b)) return missing(a) - missing(b);
    return compare(a.values[index], b.values[index]) * (direction === "desc" ? -1 : 1);
  });
}

function heading(name, column, order) {
  const [key, direction] = (order || "").split(",");
  const active = key === column.key;
  const first = column.number ? "desc" : "asc";
  const next = active ? (direction === "asc" ? "desc" : "asc") : first;
  const arrow = active ? (direction === "desc" ? "↓" : "↑") : "";
  return make(
    "th",
    {
      scope: "col",
      class: column.number ? "number" : null,
      "aria-sort": active ? (direction === "desc" ? "descending" : "ascending") : null,
    },
    make(
      "button",
      {
        type: "button",
        title: column.hint || null,
        "data-sort": `${name}:${column.key}`,
        onclick: () => {
          state.sort[name] = `${column.key},${next}`;
          change({});
          document.querySelector(`[data-sort="${CSS.escape(`${name}:${column.key}`)}"]`)?.focus();
        },
      },
      column.title,
      make("span", { class: "arrow", "aria-hidden": "true" }, arrow),
    ),
  );
}

function cell(row, column, index, most) {
  const text = row.cells[index];
  const value = row.values[index];
  const classes = [column.number ? "number" : "", text === "—" ? "missing" : "", column.kind];
  if (column.kind === "difference" && row.beyond) classes.push(value < 0 ? "below" : "above");
  const share = column.bar && most[index] ? Math.max(value || 0, 0) / most[index] : null;
  const tag = index === 0 ? "th" : "td";
  return make(
    tag,
    {
      scope: index === 0 ? "row" : null,
      class: classes.filter(Boolean).join(" ") || null,
      style: share === null ? null : `--share:${(share * 100).toFixed(1)}%`,
      "data-bar": share !== null,
    },
    row.link && column.kind === "path" ? make("a", { href: `#open=${row.link}`, onclick: row.follow }, text) : text,
  );
}

function renderTable(host, name, table, filtered = true) {
  const order = state.sort[name];
  const rows = sorted(
    table.rows.filter((row) => !filtered || (chosen(row) && mentions(row.cells))),
    table,
    order,
  );
  const shown = unfolded.has(name) ? rows : rows.slice(0, SHOWN);
  const most = table.columns.map((column, index) =>
    column.bar ? Math.max(0, ...rows.map((row) => row.values[index] || 0)) : 0,
  );
  host.replaceChildren();
  if (!rows.length) {
    const nothing = "Nothing yet: no run outside a search is finished.";
    host.append(make("p", { class: "empty" }, table.rows.length ? "Nothing matches the filters." : nothing));
    return rows;
  }
  const head = make("thead", null, make("tr", null, table.columns.map((column) => heading(name, column, order))));
  const body = make(
    "tbody",
    null,
    shown.map((row) => make("tr", null, table.columns.map((column, index) => cell(row, column, index, most)))),
  );
  const caption = make("caption", null, make("span", null, table.caption));
  host.append(
    make(
      "div",
      { class: "scroll", tabindex: "0", role: "region", "aria-label": table.caption },
      make("table", { id: `table-${name}` }, caption, head, body),
    ),
  );
  if (shown.length < rows.length) {
    const all = () => {
      unfolded.add(name);
      render();
    };
    const note = `Show all ${rows.length.toLocaleString("en")} rows`;
    host.append(make("button", { type: "button", class: "more", onclick: all }, note));
  }
  return rows;
}
