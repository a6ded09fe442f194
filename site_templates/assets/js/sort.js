/* Tables whose headers sort, and answers case by case: `data-sort` names them in the address. A third press restores the order of
   the page. What is undefined stands last either way. Each answer has its score, `data-s`. */
let collator; // made for the first table that is sorted: it loads the tables of the locale
const inOrder = (one, other) => (collator ??= new Intl.Collator("en", { numeric: true })).compare(one, other);
const NUMBER = /^([▲▼])?\s*(?:up|down)?\s*(?:<\s*)?([+−-]?)([\d,]+(?:\.\d+)?)\s*%?/;

class SortedTable {
  constructor(table) {
    this.table = table;
    this.key = `by-${table.dataset.sort}`;
    this.rows = this.rowsWithBodies();
    this.heads = $$("thead tr:first-child th, [role=columnheader]", table);
    this.names = this.heads.map((head, column) => columnOf(head) ?? `${column + 1}`);
    this.heads.forEach((head, column) => {
      const isCell = head.matches("th"), button = element("button", isCell ? "" : "btn", isCell ? null : "Sort");
      button.type = "button";
      if (isCell) head.append((button.append(...head.childNodes), button));
      else $(".who > span", head).after((button.ariaLabel = `Sort by ${$("b", head)?.textContent ?? "score"}`, button));
      button.addEventListener("click", () => this.press(column));
    });
    this.restore();
    // Rows are added where they belong in the order of the page, and sorted again with the others.
    table.addEventListener("unsort", () => { for (const [row, body] of this.way ? this.rows : []) body.append(row); });
    table.addEventListener("rows", () => {
      this.rows = this.rowsWithBodies();
      if (this.way) this.sort(this.column, this.way);
    });
    addEventListener("hashchange", () => this.restore());
  }

  rowsWithBodies() {
    return $$("tbody tr:not(.item), .cases > li", this.table).map(row => [row, bodyOf(row)]);
  }

  /** The text of a cell as something to compare; null if it is undefined. */
  value(cell, numeric) {
    if (cell.matches(".an")) return cell.dataset.s ? +cell.dataset.s : null;
    const time = $("time", cell), data = $("data", cell), text = cell.textContent.trim();
    if (time) return time.dateTime;
    if (data) return +data.value;
    if (!text || text === "—") return null;
    if (text === "no change") return 0;
    const number = NUMBER.exec(text);
    if (!number || (!numeric && number[0] !== text)) return text;
    const sign = number[1] === "▼" || number[2] === "−" || number[2] === "-" ? -1 : 1;
    return sign * +number[3].replaceAll(",", "");
  }

  values(column) {
    const numeric = this.heads[column].classList.contains("num");
    this.table.closest("[data-table]")?.filtered?.name();
    const cells = this.rows.map(([row]) => (row.cells ? row.cells[column] : $(`.a${column}`, row)));
    return cells.map(cell => (cell ? this.value(cell, numeric) : null));
  }

  press(column) {
    const first = this.table.rows && this.values(column).some(value => typeof value === "number") ? "down" : "up";
    const second = first === "up" ? "down" : "up";
    const way = this.column !== column ? first : this.way === first ? second : "";
    keepInHash({ [this.key]: way && `${this.names[column]}-${way}` });
    this.sort(way ? column : -1, way);
  }

  restore() {
    const [, name, way] = /^(.+)-(up|down)$/.exec(hash().get(this.key) ?? "") ?? [], column = this.names.indexOf(name);
    if (column >= 0) this.sort(column, way);
    else if (this.way) this.sort(-1, "");
  }

  sort(column, way) {
    [this.column, this.way] = [column, way];
    this.heads.forEach((head, index) => {
      if (index === column) head.setAttribute("aria-sort", way === "up" ? "ascending" : "descending");
      else head.removeAttribute("aria-sort");
    });
    this.table.toggleAttribute("data-sorted", !!way);
    if (this.table.closest("[data-table]")?.filtered?.loading) return; // until all rows are there
    if (way) {
      const values = this.values(column), sign = way === "up" ? 1 : -1;
      const compare = (a, b) => (typeof a === "number" && typeof b === "number" ? a - b : inOrder(a, b));
      const order = [...values.keys()].sort((a, b) => (values[a] === null) - (values[b] === null)
        || (values[a] === null ? 0 : sign * compare(values[a], values[b])) || a - b);
      this.rows[0]?.[1].append(...order.map(index => this.rows[index][0]));
    } else {
      for (const [row, body] of this.rows) body.append(row);
    }
    this.table.closest("[data-table]")?.dispatchEvent(new CustomEvent("sorted", { detail: way }));
  }
}

for (const table of $$("[data-sort]")) new SortedTable(table);
