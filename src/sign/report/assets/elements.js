// Elements are created from text, never from markup: a data set may be called <script>.

const DATA = JSON.parse(document.getElementById("data").textContent);
const SVG = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

const make = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
const draw = (tag, attributes, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);

const plural = (count, word) => `${count.toLocaleString("en")} ${word}${count === 1 ? "" : "s"}`;

// The first colour unused by other groups of the data set: six that colour-blind readers can distinguish, then dashes.
const DASHES = ["", "7 3", "2 3", "9 3 2 3"];
// The trials of a search share one style and one entry of the legend: there may be hundreds.
const lineOf = (group) => (group.job_type === "search" ? `${group.model} · trials of a search` : group.label);
const labels = [...new Set(DATA.groups.map(lineOf))];
const styleOf = new Map();
for (const label of labels) {
  const datasets = new Set(DATA.groups.filter((group) => lineOf(group) === label).map((group) => group.dataset));
  const beside = DATA.groups.filter((group) => datasets.has(group.dataset)).map((group) => styleOf.get(lineOf(group))?.index);
  let index = 0;
  while (beside.includes(index)) index += 1;
  styleOf.set(label, { index, colour: `var(--c${index % 6})`, dash: DASHES[Math.floor(index / 6) % DASHES.length] });
}
