/* Quiet buttons that take a chart as SVG, and a table as Markdown or CSV, to where people write about them. They stand in the head of
   their card; a table without one has them below itself. */

/* A colour as every program reads it: browsers compute mixed ones to color(srgb 0.1 0.2 0.3 / 0.5). */
const plainColour = colour => colour.replace(/color\(srgb ([^)]*)\)/g, (_, parts) => {
  const [red, green, blue, , alpha = 1] = parts.split(" ");
  return `rgba(${[red, green, blue].map(part => Math.round(255 * part)).join()},${alpha})`;
});
const INHERITED = ["fill", "stroke", "stroke-width", "stroke-dasharray", "stroke-linecap", "stroke-linejoin", "font-family", "font-size",
  "font-weight", "text-anchor", "paint-order", "shape-rendering"];
const OWN = { opacity: "1", "vector-effect": "none", transform: "none" };
const isSeen = style => style.display !== "none" && style.visibility === "visible";

/* A copy of drawn nodes that needs no style sheet: each has the styles in which it differs from the node around it. Links go nowhere
   from a file of its own, and so become groups. */
function drawnCopy(node, around) {
  const style = getComputedStyle(node);
  if (!isSeen(style)) return null;
  const made = svgElement(node.localName === "a" ? "g" : node.localName, {});
  for (const { name, value } of node.attributes) {
    if (!/^(class|style|href|data-.*|tabindex|aria-.*|role|id)$/.test(name)) made.setAttribute(name, value);
  }
  for (const name of INHERITED) if (style[name] !== around?.[name]) made.setAttribute(name, plainColour(style[name]));
  for (const name in OWN) if (style[name] !== OWN[name]) made.setAttribute(name, style[name]);
  for (const child of node.childNodes) {
    const copy = child.nodeType === Node.ELEMENT_NODE ? drawnCopy(child, style) : child.nodeType === Node.TEXT_NODE && child.cloneNode();
    if (copy) made.append(copy);
  }
  return made;
}

class Picture {
  /* `top`: room for the title above the chart. */
  constructor(chart, title, top = 34) {
    const { width, height, left, top: above } = chart.getBoundingClientRect();
    const style = getComputedStyle(chart.closest(".card") ?? document.body);
    [this.left, this.above] = [left, above - top];
    this.svg = svgElement("svg", { xmlns: "http://www.w3.org/2000/svg", width, height: height + top, viewBox: `0 0 ${width} ${height + top}` });
    this.svg.append(svgElement("title", {}, title));
    this.box({ left, top: above - top, width, height: height + top }, plainColour(style.backgroundColor));
    const head = { x: 16, y: 24, "font-family": style.fontFamily, "font-size": "15px", "font-weight": 600, fill: style.color };
    this.svg.append(svgElement("text", head, title));
    this.draw(chart);
  }

  draw(node) {
    const style = getComputedStyle(node), at = node.getBoundingClientRect();
    if (!isSeen(style) || !at.width || node.matches("button, script, .vh, .brush, .tip, .cur, .sel, .more, .hint")) return;
    if (node.localName === "svg") {
      const copy = drawnCopy(node);
      for (const [name, value] of Object.entries({ x: at.left - this.left, y: at.top - this.above, width: at.width, height: at.height })) {
        copy.setAttribute(name, value);
      }
      copy.setAttribute("overflow", style.overflow === "visible" ? "visible" : "hidden");
      this.svg.append(copy);
      return;
    }
    // A dashed key is a gradient, of which the first colour is that of its line.
    const [striped] = /rgba?\([^)]*\)|color\([^)]*\)/.exec(style.backgroundImage) ?? [];
    this.box(at, striped ?? style.backgroundColor, striped, style.borderRadius);
    for (const side of ["Top", "Bottom"]) {
      const width = parseFloat(style[`border${side}Width`]);
      const place = { ...at.toJSON(), top: side === "Top" ? at.top : at.bottom - width, height: width };
      if (width) this.box(place, style[`border${side}Color`], style[`border${side}Style`] !== "solid");
    }
    for (const child of node.childNodes) {
      if (child.nodeType === Node.ELEMENT_NODE) this.draw(child);
      else if (child.nodeType === Node.TEXT_NODE && child.data.trim()) this.write(child, style);
    }
  }

  box({ left, top, width, height }, fill, isStriped, radius = "0") {
    if (/^rgba\(.*, 0\)$|^transparent$/.test(fill)) return;
    const [x, y] = [left - this.left, top - this.above];
    this.svg.append(isStriped
      ? svgElement("path", { d: `M${x} ${y + height / 2}h${width}`, stroke: plainColour(fill), "stroke-width": height, "stroke-dasharray": "4 2.5" })
      : svgElement("rect", { x, y, width, height, fill: plainColour(fill), rx: Math.min(parseFloat(radius) || 0, height / 2) }));
  }

  /* A text of the page, line by line: at each character that begins further down, a line ends. */
  write(text, style) {
    const range = document.createRange(), lines = [];
    for (let k = 0; k < text.length; k += 1) {
      range.setStart(text, k);
      range.setEnd(text, k + 1);
      const at = range.getBoundingClientRect(), line = lines.at(-1);
      if (!at.width) continue;
      if (line && Math.abs(line.at.top - at.top) < 2) line.words += text.data[k];
      else lines.push({ at, words: text.data[k] });
    }
    const size = parseFloat(style.fontSize);
    for (const { at, words } of lines) {
      this.svg.append(svgElement("text", {
        x: at.left - this.left, y: at.top - this.above + at.height / 2 + 0.35 * size, "font-family": style.fontFamily, "font-size": style.fontSize,
        "font-weight": style.fontWeight, fill: plainColour(style.color),
      }, words.replace(/\s+/g, " ")));
    }
  }
}

/* The text of a cell in one line: without what only screen readers read, and without what is folded. An arrow is a sign. */
const BLOCKS = "div, p, li, br, summary, small, .pill, .block, .muted";
function textOf(node) {
  if (node.nodeType === Node.TEXT_NODE) return node.data;
  if (node.nodeType !== Node.ELEMENT_NODE || node.matches(".vh, svg, .btn, template, [hidden], details > :not(summary)")) return "";
  const text = [...node.childNodes].map(textOf).join("");
  return node.matches(BLOCKS) ? ` ${text} ` : text;
}
const cellText = cell => textOf(cell).replace(/\s+/g, " ").trim().replace(/^▲ (?=[\d.])/, "+").replace(/^▼ (?=[\d.])/, "\u2212");
/* Rows that a filter left out are not taken; those that only wait for "Show more" are. */
const tableCells = table => {
  const rows = $$("tr:not(.off)", table).map(row => [...row.cells].flatMap(cell => [cellText(cell), ...Array(cell.colSpan - 1).fill("")]));
  const isUsed = (_, column) => rows.length < 2 || rows.slice(1).some(row => row[column]); // a column of pictures has no text
  return rows.map(row => row.filter(isUsed));
};
const asMarkdown = ([heads, ...rows]) => [heads, heads.map(() => "---"), ...rows]
  .map((cells, k) => `| ${cells.map(text => (k === 1 ? text : text.replace(/[\\|`*_<[\]]/g, "\\$&"))).join(" | ")} |`).join("\n") + "\n";
/* As sitegen's own CSV files: a text that a spreadsheet would run as a formula gets an apostrophe in front (sitegen/text/plain.py). */
const csvCell = text => {
  if (text === "—") return "";
  const number = text.replace("\u2212", "-");
  const safe = /^[=+\-@]/.test(number) && Number.isNaN(+number) ? `'${text}` : Number.isNaN(+number) ? text : number;
  return /[",\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
};
const asCsv = rows => rows.map(cells => cells.map(csvCell).join(",")).join("\r\n") + "\r\n";

const pageTitle = () => $("h1")?.textContent.replace(/\s+/g, " ").trim() ?? document.title;
/* Where the buttons of a chart or a table stand. On a small screen the head of a chart has no room for them. */
function takingPlace(node) {
  const heading = document.getElementById(node.getAttribute("aria-labelledby") ?? ""), card = node.closest(".card");
  const isChart = node.localName === "figure", isOnly = isChart && card && $$("figure.chart", card).length === 1;
  const above = isChart ? isOnly && innerWidth > 860 && $(".card-h", card) : node.previousElementSibling;
  const head = (heading ?? above)?.closest?.(".card-h"), place = element("span", "take js-only");
  if (head && !$(`[data-of=${place.dataset.of = node.localName}]`, head)) head.append(place); else node.after(place); // of several, the first
  const named = heading ?? (isOnly || head ? $("h2, h3", head ?? card) : $("h3", node));
  return [place, named?.textContent.replace(/\s+/g, " ").trim() ?? node.getAttribute("aria-label") ?? ""];
}
function takeButton(place, name, title, taken) {
  const button = element("button", "btn", name);
  Object.assign(button, { type: "button", title });
  button.setAttribute("aria-live", "polite");
  button.addEventListener("click", () => taken(button));
  place.append(button);
}
function saveSvg(chart, name) {
  const title = [pageTitle(), name].filter(Boolean).join(": "), link = element("a");
  const text = new XMLSerializer().serializeToString(new Picture(chart, title).svg);
  link.href = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
  link.download = `${title.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "").slice(0, 80)}.svg`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
for (const chart of $$("figure.chart")) {
  const [place, name] = takingPlace(chart);
  takeButton(place, "SVG", `Save ${name || "this chart"} as SVG`, () => saveSvg(chart, name));
}
for (const box of $$(".tw:has(> table)")) {
  const table = $("table", box), [place, name] = takingPlace(box);
  const copies = (as, button) => copyBy(button, as(tableCells(table)), () => "Not allowed here");
  takeButton(place, "Markdown", `Copy ${name || "this table"} as Markdown`, button => copies(asMarkdown, button));
  takeButton(place, "CSV", `Copy ${name || "this table"} as CSV`, button => copies(asCsv, button));
}
