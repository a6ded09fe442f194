/* Long tables and lists: a filter kept in the address, and the first rows of many. `data-table` is how many rows come first,
   `data-noun` what a row is called, `data-key` (on the field or a button) its name in the address. `data-rows` names a script with `data-loadable` more rows
   (sitegen/pages/report/report_rows.py, sitegen/pages/trend/trend_rows.py), loaded when they are asked for; with `data-parts` it is
   the beginning of the names of so many scripts (sitegen/pages/report/grid.py), of which no more are loaded than it takes. `data-beyond` rows
   are neither here nor there. A button with `data-flag` leaves the rows with this attribute, of which there are `data-all`; with `data-column`
   it leaves this column, and the attribute is looked for in it; columns stand in the order in which they were chosen. Of `d`, whose values number
   the different answers of a row, two have to be left. Columns whose name begins with `v` are what was asked, and leave the answers as they are. */
const AT_ONCE = 20; // the most files that are loaded before a filter looks at their rows: as many as were loaded before, so that few come first
const isAsked = column => column.startsWith("v");
/* Shows a row, or leaves it out as one more than are shown or as one that a filter does not find. */
const setState = (row, state) => { if (row.state !== state) for (const name of ["cut", "off"]) row.classList.toggle(name, name === state); row.state = state; };
const nextTask = () => new Promise(done => { setTimeout(done); });
const isRow = row => !row.matches(".cellname"); // but the head of the rows below it

class FilteredTable {
  constructor(box) {
    this.box = box;
    this.more = $("[data-more]", box);
    this.first = this.more ? Math.min(innerWidth < 600 ? 20 : Infinity, +box.dataset.table) : Infinity; // no row is out of reach
    this.limit = this.first;
    this.rows = this.rowsNow();
    this.words = $("[data-q]", box);
    this.section = $("[data-group]", box);
    this.sectionKey = this.section?.dataset.key || "section";
    this.types = $$("[data-type]", box);
    this.flags = $$("[data-flag]", box);
    this.columns = $$("[data-column]", box);
    this.status = $("[data-count]", box);
    this.loadable = +(box.dataset.loadable ?? 0);
    this.parts = box.dataset.parts ? Array.from({ length: +box.dataset.parts }, (_, index) => `${box.dataset.rows}${index + 1}.js`) : [box.dataset.rows];
    this.beyond = +(box.dataset.beyond ?? 0);
    this.key = this.words?.dataset.key || "q";
    this.texts = new Map();
    box.filtered = this;
    this.unnamed = [...this.rows];
    this.restore();
    this.listen();
    this.show();
    box.dataset.ready = "";
  }

  /** The rows in their order, without those that another row names (.named) and the heads of list items. A text has its blocks. */
  rowsNow() { return $$("tbody tr:not(.item,.named), .cases > li, .prose > *", this.box); }

  listen() {
    const changed = () => {
      this.limit = this.first;
      this.show();
      this.remember();
      if (this.box.getBoundingClientRect().top < 0) this.box.scrollIntoView(); // the filter would hide the first rows that it leaves
    };
    this.words?.addEventListener("input", changed);
    this.section?.addEventListener("change", changed);
    for (const button of [...this.types, ...this.flags]) onToggle(button, changed);
    for (const button of this.columns) {
      onToggle(button, () => {
        this.chosen = isPressed(button) ? [...this.chosen, button.dataset.column] : this.chosen.filter(other => other !== button.dataset.column);
        changed();
      });
    }
    this.more?.addEventListener("click", () => { this.limit += 200; this.show(); });
    this.box.addEventListener("sorted", event => {
      this.rows = this.rowsNow();
      if (event.detail) this.load();
      this.show();
    });
    addEventListener("hashchange", () => {
      this.restore();
      this.show();
      if (this.section?.dataset.key && this.section.value || [...this.flags, ...this.columns].some(isPressed)) this.box.scrollIntoView();
    });
  }

  /** A button beside the filter that copies the address, which has the filter. */
  addLink() {
    const button = element("button", "btn js-only", "Copy link to this view");
    button.type = "button";
    button.addEventListener("click", () => copyBy(button, location.href, () => "Copy the page's address"));
    (this.flags.at(-1) ?? this.types.at(-1) ?? this.words ?? this.section ?? this.columns.at(-1)).after(button);
    return button;
  }

  /** The filter as the address has it. A row's own address (#d12, or that of a passage) shows that row, whatever its place. */
  restore() {
    const kept = hash();
    if (this.words) this.words.value = kept.get(this.key) ?? "";
    if (this.section) this.section.value = kept.get(this.sectionKey) ?? "";
    if (this.section && this.section.selectedIndex < 0) this.section.value = "";
    const types = (kept.get("type") ?? "").split(",");
    for (const button of this.types) setPressed(button, types.includes(button.dataset.type));
    for (const button of this.flags) setPressed(button, kept.has(button.dataset.key));
    this.chosen = (kept.get("columns") ?? "").split(",").filter(column => this.columns.some(button => button.dataset.column === column));
    for (const button of this.columns) {
      setPressed(button, this.chosen.includes(button.dataset.column));
      if (isPressed(button)) button.closest("details")?.setAttribute("open", "");
    }
    const row = rowInHash(), named = document.getElementById(row || decodeURIComponent(location.hash.slice(1)));
    const target = named && (row ? $(`#${row}`, this.box) : this.rows.find(each => each.contains(named)));
    if (!named && (row || this.seeks())) this.load();
    if (!row && this.box.dataset.parts && this.rows.indexOf(target) >= this.limit) { // or thousands before it would be laid out
      target.parentNode.prepend(target);
      this.rows = this.rowsNow();
    }
    if (target) {
      const fold = $(".item details", bodyOf(target));
      if (fold) fold.open = true;
      const last = target.matches(".cellname") ? bodyOf(target).lastElementChild : target; // a name, before the rows that it heads
      this.limit = Math.max(this.limit, this.rows.indexOf(last) + (row ? 1 : this.first)); // what follows a heading belongs to it
      requestAnimationFrame(() => {
        if (target === reached()) return; // more rows were loaded
        if (row) reach(target);
        else if (!named.matches(":target")) location.replace(location.href); // it was not there when the page was loaded
        (row ? target : named).scrollIntoView({ block: row ? "center" : "start" });
      });
    }
  }

  /** Whether the address names a case or an answer that is not on the page yet. */
  seeks() { return this.box.dataset.parts && /^#c\d/.test(location.hash) && !document.getElementById(decodeURIComponent(location.hash.slice(1))); }

  remember() {
    keepInHash({
      [this.key]: this.words?.value,
      ...(this.section && { [this.sectionKey]: this.section.value }),
      ...(this.types.length && { type: this.types.filter(isPressed).map(button => button.dataset.type).join() }),
      ...Object.fromEntries(this.flags.map(button => [button.dataset.key, isPressed(button) ? "1" : ""])),
      ...(this.columns.length && { columns: this.chosen.join() }),
    });
  }

  /** Adds the rows of the next file that are not on the page, each at its place by number: below the head of its list item,
      `#g12`, or with one of its own; those of a list at its end. */
  load() {
    return this.loadable && !this.loading ? this.loaded = this.add() : this.loaded;
  }

  async add() {
    const goesOn = this.loading, seeking = this.seeks(), hastens = seeking || this.box.matches("[data-filtered],[data-sorted]");
    this.loading = true;
    const ahead = Math.min(AT_ONCE, (hastens && this.box.dataset.parts - this.parts.length) || 1);
    for (const name of this.parts.splice(0, ahead)) await loadScript(name);
    const [rows, repeated] = [this.box.dataset.parts ? (self.CASES ?? []).splice(0).join("") : self.ROWS?.pop() ?? ""].flat();
    const list = $(".cases", this.box), table = list ? null : $("table", this.box), byPlace = (a, b) => a.id.slice(1) - b.id.slice(1);
    let added = 0;
    if (!goesOn) (table ?? this.box).dispatchEvent(new Event("unsort"));
    for (const bodies of rows.match(/[^]{1,8000}[^]*?(?=<tbody|$)/g) ?? []) { // in a task each, so that the page answers meanwhile
      const made = rowsOf(bodies.replace(/<(\d+)>/g, (_, place) => repeated[place]));
      added += made.length;
      for (const row of list ? made : []) { setState(row, "cut"); list.append(row); } // what is shown before it is filtered would be laid out
      for (const body of table ? made : []) {
        const drawn = document.getElementById(body.id), rows = $$("tr:not(.item)", body);
        for (const row of rows) setState(row, "cut");
        if (drawn) drawn.append(...[...$$("tr:not(.item)", drawn), ...rows].sort(byPlace));
        else table.append(body);
        this.unnamed.push(...rows);
      }
      await nextTask();
    }
    if (!added) this.lost = this.loadable;
    this.loadable = this.parts.length && added ? this.loadable - added : 0;
    if (this.loadable && (this.seeks() || this.box.hasAttribute("data-sorted"))) return this.add(); // an order is that of all rows
    this.loading = false;
    let last = table && $("thead", table);
    for (const body of table ? $$("tbody", table).sort(byPlace) : []) { // moves no other, or the chosen row would leave the screen
      if (last.nextElementSibling !== body) last.after(body);
      last = body;
    }
    this.rows = this.rowsNow();
    if (added) $("[data-rest]", this.box)?.remove();
    if (added) (table ?? this.box).dispatchEvent(new Event("rows"));
    if (added && table) await nextTask();
    if (added && (table || seeking)) this.restore();
    this.show();
  }

  /** Names the list item in each of its rows, before rows are searched or stand apart from its head. */
  name() {
    for (const row of this.unnamed) {
      const item = $(".item b", bodyOf(row))?.textContent, field = item && $("a[href^=fields]", row);
      if (field && field.textContent !== item) field.prepend(element("span", "", item + (field.textContent.startsWith("[") ? "" : ".")));
    }
    this.unnamed = [];
  }

  /** What a row is searched by: its text, and its path with the indices of list items, `data-i` of its body, in place of their names. */
  text(row) {
    if (!this.texts.has(row)) {
      const indices = bodyOf(row).dataset.i?.split(",") ?? [];
      const path = indices.length ? $("td a[href^=fields]", row).textContent.replace(/\[(?!")[^\]]*\]/g, () => `[${indices.shift()}]`) : "";
      this.texts.set(row, `${row.textContent} ${path}`.toLowerCase());
    }
    return this.texts.get(row);
  }

  show() {
    const words = (this.words?.value ?? "").toLowerCase().split(/\s+/).filter(Boolean);
    const types = this.types.filter(isPressed).map(button => button.dataset.type);
    const section = this.section?.value ?? "";
    const flags = this.flags.filter(isPressed), columns = this.chosen.filter(column => !isAsked(column));
    const filtered = words.length || types.length || section || flags.length;
    const place = ({ dataset: { flag } }) => columns.map(column => `.a${column}[data-${flag}]`).join();
    const marks = (row, flag) => $$(place(flag), row).map(cell => cell.dataset[flag.dataset.flag]);
    const flagged = (row, flag) => (columns.length ? new Set(marks(row, flag)).size > (flag.dataset.flag === "d") : flag.dataset.flag in row.dataset);
    if ((filtered && this.parts.length === 1) || this.limit > Math.max(this.first, this.rows.length)) this.load();
    if (words.length) this.name();
    for (const row of this.chosen.length || this.hadChosen ? this.rows : []) {
      for (const cell of $$(".an, .asked > [class]", row)) {
        const beside = this.chosen.filter(column => isAsked(column) !== cell.matches(".an"));
        const place = beside.findIndex(column => cell.classList.contains(`a${column}`));
        cell.hidden = !!beside.length && place < 0;
        cell.toggleAttribute("data-chosen", place >= 0);
        cell.style.order = Math.max(place, 0);
      }
    }
    this.hadChosen = this.chosen.length > 0;
    this.box.toggleAttribute("data-filtered", !!(filtered || this.chosen.length));
    if (filtered) for (const fold of $$("details.stepset", this.box)) fold.open = true;
    if (filtered || this.chosen.length) this.link ??= this.addLink();
    if (this.link) this.link.hidden = !filtered && !this.chosen.length;
    let hits = 0;
    this.rows.forEach(row => {
      const hit = (!types.length || (row.dataset.t ?? "").split(" ").some(type => types.includes(type))) && (!section || (row.dataset.g ?? "").split("\n").includes(section))
        && flags.every(flag => flagged(row, flag)) && words.every(word => this.text(row).includes(word));
      setState(row, !hit ? "off" : hits < this.limit ? undefined : "cut");
      if (hit && isRow(row)) hits += 1;
    });
    if ($(`#${rowInHash()}.off`, this.box)) closePane();
    for (const flag of this.columns.length ? this.flags : []) {
      const count = $(".n", flag);
      count.hidden = columns.length && this.loadable; // the number is that of all rows
      count.textContent = columns.length ? this.rows.filter(row => flagged(row, flag)).length : flag.dataset.all;
    }
    const shown = Math.min(hits, this.limit);
    const found = flag => this.rows.filter(row => flag.dataset.flag in row.dataset).length >= (flag.dataset.all ?? Infinity);
    const unsearched = filtered && this.loadable && this.parts.length && !flags.some(found);
    if (unsearched && hits < this.limit) this.load();
    if (!filtered) hits += this.loadable;
    const total = this.rows.filter(isRow).length + this.loadable;
    if (this.status) {
      const matching = hits < total ? `${hits} matching of ${total}` : `${total} ${this.box.dataset.noun ?? "row"}${total === 1 ? "" : "s"}`;
      const notes = [shown < hits ? `${shown} shown, ${matching}` : matching];
      if (this.loading) notes.push("loading the rows that are not drawn");
      if (this.lost) notes.push(`${this.lost} more could not be loaded`);
      if (this.beyond) notes.push(`${this.beyond} more only in the data file`);
      this.status.textContent = notes.join("; ");
    }
    if (this.more) {
      this.more.parentNode.hidden = shown === total && !this.words; // no row is left to be found
      this.more.hidden = shown >= hits && !unsearched;
      this.more.textContent = unsearched ? "Search on" : `Show ${Math.min(200, hits - shown)} more`;
    }
  }
}

for (const link of $$("a[data-filter]")) link.href = link.dataset.filter; // leads nowhere without scripts
for (const box of $$("[data-table]")) new FilteredTable(box);
// A link to a filtered table opens at the table; a page that is loaded again stays where it was.
if (performance.getEntriesByType("navigation")[0]?.type === "navigate") $("[data-filtered]")?.scrollIntoView();
