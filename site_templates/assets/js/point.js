/* One point of the trend in words: texts and counts from its row in the table of iterations, numbers from the chart. */
const DASH = "—";

/** Digits after the point as Python writes them: halfway between two numbers, as 0.0625 is, the even one, not the larger one. */
const fixed = (value, digits) => {
  const isHalf = (value * 2 ** (digits + 1)) % 2 === 1, scale = 10 ** digits;
  const [whole, fraction] = (isHalf ? (2 * Math.round((value * scale) / 2)) / scale : value).toFixed(digits).split(".");
  return `${grouped(+whole)}${fraction ? `.${fraction}` : ""}`;
};
/** Three digits after the point; of what is very small or large, or just below 1, as on the server, the digits that count. */
const written = value => {
  if (value < 0) return `−${written(-value)}`;
  if (value && value < 0.0005 || value >= 1e12) {
    const digits = value < 1 ? 2 : 6, short = +value.toPrecision(digits);
    if (value < 1 && short >= 1e-4) return String(short);
    return short.toExponential(digits - 1).replace(/\.?0*e([+-])(\d+)$/, (_, sign, power) => `e${sign}${power.padStart(2, "0")}`);
  }
  return value < 100 ? fixed(value, value >= 0.9995 && value < 1 ? -Math.floor(Math.log10(1 - value)) : 3) : fixed(value, 1).replace(/\.0$/, "");
};
const metric = (value, otherwise = DASH, whole = false) =>
  (value === null ? otherwise : whole && Number.isInteger(value) ? grouped(value) : written(value));

/** What a row has in a column that the chart does not draw; a cell of no values is empty. */
const countOf = (row, column) => {
  const text = cellOf(row, column).textContent || "0";
  return Number.isNaN(+text) ? text : grouped(+text);
};

/** What a row of the table says of its point. */
class TablePoint {
  constructor(row) {
    this.row = row;
    this.cell = cellOf(row, "iteration");
    this.link = $("a", this.cell);
    this.label = this.link.textContent;
    this.file = this.link.getAttribute("href");
    this.sha = $("div + a", this.cell)?.textContent;
    this.by = $("span", this.cell).textContent;
    this.day = this.by.split(" · ").pop();
    this.remarks = $$(".pill, small", this.cell);
  }

  /** The subject of the commit, which of its rows only one has. */
  get subject() {
    const same = subject => $("div + a", subject.closest("td"))?.textContent === this.sha;
    return ($("i", this.cell) ?? $$(".c-iteration i", this.row.closest("table")).find(same))?.textContent ?? "";
  }
}

/** The box beside the cursor. */
class PointBox {
  constructor(data, table) {
    this.data = data;
    this.off = new Set(); // the lines that are not shown
    this.heads = $("thead", table);
    this.counted = $$("th:not(.drawn)", this.heads).map(columnOf); // none if no values were judged one by one
    this.box = element("div", "tip");
  }

  show(index, point) {
    const span = this.data.spans[index];
    this.box.replaceChildren(
      element("b", "", point.subject),
      element("div", "m", [point.label, point.sha, point.by].filter(Boolean).join(" · ")),
      this.metrics(index, point.row),
    );
    if (this.counted.length) this.box.append(this.counts(point.row));
    if (this.data.by_outputs[index]) this.box.append(element("div", "m", `change of ${this.data.names[0]}: all from outputs`));
    if (span) this.box.append(element("div", "m", `95 %: ${metric(span[0])} to ${metric(span[1])}`));
    if (!point.remarks.length) return;
    const remarks = element("div", "remark");
    remarks.append(...point.remarks.flatMap(remark => [remark.cloneNode(true), " "]));
    this.box.append(remarks);
  }

  metrics(index, iteration) {
    const table = element("table"), body = element("tbody"), both = this.data.now.length > 0;
    const isJudged = !$(".unknown", cellOf(iteration, "change"));
    if (both) {
      const head = element("thead"), row = element("tr");
      row.append(...["", "then", "now", ""].map(text => element("th", "", text)));
      head.append(row);
      table.append(head);
    }
    this.data.names.forEach((text, k) => {
      if (this.off.has(k)) return;
      const row = element("tr"), name = element("td"), now = this.data.now[k];
      name.append(element("span", `key ${this.data.marks[k]}`), ` ${text}`);
      row.append(name, element("td", "", this.metric(k, this.data.values[k][index])));
      if (both) row.append(element("td", "", now ? this.metric(k, now[index]) : ""));
      row.append(this.change(k, index, isJudged));
      body.append(row);
    });
    table.append(body);
    return table;
  }

  /** The change that the server computed: over common documents it is no difference of the two values. It has a colour if it is judged. */
  change(k, index, isJudged) {
    const change = this.data.changes[k]?.[index];
    if (change == null) return element("td", "", index && k < this.data.changes.length ? DASH : "");
    return element("td", `delta ${isJudged && change ? (change * this.data.better[k] > 0 ? "up" : "dn") : ""}`, this.signed(k, change));
  }

  /** The counts of a row, each after the head of its column. */
  counts(row) {
    const counts = element("div", "e");
    for (const column of this.counted) {
      const part = counts.appendChild(element("span")), head = cellOf(this.heads, column);
      part.append(...($("button", head) ?? head).cloneNode(true).childNodes, ` ${countOf(row, column)}`);
    }
    return counts;
  }

  /** A value of the metric number k; a number of things without digits after the point. */
  metric(k, value, otherwise = DASH) { return metric(value, otherwise, (this.data.whole || []).includes(k)); }

  /** A change of the metric number k, in its unit. */
  signed(k, change) { return change ? (change > 0 ? "+" : "−") + this.metric(k, Math.abs(change)) : "0"; }

  /** The same for a screen reader. */
  spoken(index, point) {
    const named = this.data.names.flatMap((name, k) => {
      if (this.off.has(k)) return [];
      const then = this.data.values[k][index], now = this.data.now[k] ? this.data.now[k][index] : then;
      const change = this.data.changes[k]?.[index];
      return `${name} ${this.metric(k, then, "undefined")}`
        + (now === then ? "" : `, as judged today ${this.metric(k, now, "undefined")}`)
        + (change == null ? "" : `, change ${this.signed(k, change)}`);
    });
    return `Point ${index + 1} of ${this.data.spans.length}, ${point.label}, ${point.subject}. ${named.join("; ")}${this.counted.length ? `; ${countOf(point.row, "errors")} errors` : ""}.`
      + point.remarks.map(remark => ` ${remark.textContent}.`).join("");
  }
}
