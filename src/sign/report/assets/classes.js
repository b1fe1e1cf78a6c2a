// Metrics per class, and the confusion matrix as a heat map; filled in when a group is opened.

const openGroups = new Set(); // stay open when the page is redrawn
const NUMBERED = 20; // classes up to which the cells of a heat map have room for their numbers

function classTable(rows) {
  const score = (value) => (value === null ? "—" : value.toFixed(4));
  const columns = [["class"], ["support", (value) => (value === null ? "—" : value.toLocaleString("en"))], ["precision", score], ["recall", score], ["f1", score]];
  const head = columns.map(([name, format]) => make("th", { scope: "col", class: format ? "number" : null }, name === "f1" ? "F1" : name));
  const line = (row) =>
    columns.map(([name, format]) => (format ? make("td", { class: "number" }, format(row[name])) : make("th", { scope: "row" }, row[name])));
  return make("table", { class: "per-class" }, make("thead", null, make("tr", null, head)), make("tbody", null, rows.map((row) => make("tr", null, line(row)))));
}

// Colours are shares of the true class, so that rare classes show as well.
function heatMap({ classes, counts }) {
  const numbered = classes.length <= NUMBERED;
  const caption = make("caption", null, "Confusion matrix: one row per true class, one column per predicted class; colours are shares of the row");
  const head = classes.map((name) => make("th", { scope: "col", title: name }, make("span", null, name)));
  const line = (row, index) => {
    const total = row.reduce((sum, count) => sum + count, 0);
    return row.map((count, column) => {
      const share = total ? count / total : 0;
      const title = `${classes[index]} predicted as ${classes[column]}: ${count.toLocaleString("en")} of ${total.toLocaleString("en")}`;
      const style = `--share:${(share * 100).toFixed(1)}%`;
      return make("td", { class: share > 0.75 ? "strong" : null, style, title }, numbered ? count.toLocaleString("en") : "");
    });
  };
  return make(
    "table",
    { class: numbered ? "confusion" : "confusion small" },
    caption,
    make("thead", null, make("tr", null, make("td"), head)),
    make("tbody", null, counts.map((row, index) => make("tr", null, make("th", { scope: "row", title: classes[index] }, classes[index]), line(row, index)))),
  );
}

function renderClasses(host) {
  const shown = DATA.classes.filter((group) => chosen(group) && mentions([group.dataset, group.label]));
  const items = shown.map((group) => {
    const seed = make("small", null, group.seed === null ? "" : `seed ${group.seed}`);
    const details = make("details", null, make("summary", null, `${group.dataset} · ${group.label}`, seed));
    details.addEventListener("toggle", () => {
      if (details.open) openGroups.add(group);
      else openGroups.delete(group);
      if (!details.open || details.querySelector("table")) return;
      if (group.rows.length) details.append(make("div", { class: "scroll", tabindex: "0" }, classTable(group.rows)));
      if (group.confusion) details.append(make("div", { class: "scroll", tabindex: "0" }, heatMap(group.confusion)));
    });
    details.open = openGroups.has(group) || shown.length === 1;
    return details;
  });
  host.replaceChildren(...items);
  if (DATA.classes.length && !items.length) host.append(make("p", { class: "empty" }, "Nothing matches the filters."));
}
