/* The trend chart: hover, zoom, keyboard, the clock, iterations by date. The server has drawn everything; this changes viewBoxes and reads
   values back: numbers from the chart's own data, texts from the rows of the table of iterations. Of a long history the page
   has the newest iterations; the file with the older rows of the table (sitegen/pages/trend/trend_rows.py) has their values too. */
const CLOCKS = ["then", "now"];
/* The keys of a chart: what each does with the chart and a number of iterations, and how it is shown in the list of keys. */
const CHART_KEYS = [
  ["ArrowLeft", "Iteration before; with Shift, ten before", (chart, step) => chart.go((chart.at < 0 ? chart.size : chart.at) - step), "←"],
  ["ArrowRight", "Iteration after; with Shift, ten after", (chart, step) => chart.go(chart.at + step), "→"],
  ["Home", "Oldest iteration", chart => chart.go(0), "Home"],
  ["End", "Newest iteration", chart => chart.go(chart.last), "End"],
  ["Enter", "Open the report of the iteration", chart => { if (chart.at >= 0) chart.visit(chart.at); }, "Enter"],
  ["+", "Zoom in", chart => chart.scale(2 / 3), "+"],
  ["-", "Zoom out", chart => chart.scale(3 / 2), "−"],
  ["Escape", "Show the whole history", chart => { chart.reset(); chart.leave(); }, "Esc"],
];

class TrendChart {
  constructor(chart) {
    this.chart = chart;
    this.card = chart.closest(".card");
    this.data = JSON.parse($("script[type='application/json']", chart).textContent);
    this.table = $("table.iters");
    this.older = this.data.older ?? 0;
    const gap = Array(this.older).fill(null), { values, now, changes, by_outputs, spans, numbers } = this.data;
    this.rows = [...gap, ...$$("tbody tr", this.table).reverse()];
    for (const columns of [values, now, changes]) columns.forEach(column => column.unshift(...gap));
    for (const column of [by_outputs, spans, numbers ?? []]) column.unshift(...gap);
    this.last = this.rows.length - 1;
    this.clock = this.axis = "";
    this.least = -0.5;
    this.most = this.last + 0.5;
    [this.from, this.to] = [this.least, this.most];
    [this.bottom, this.top] = this.data.y;
    this.at = -1;
    this.byKey = false;
    this.canvas = $(".h-main .cv", chart);
    this.canvases = $$(".cv", chart);
    this.makeParts();
    this.listenToPointer();
    this.listenToKeys();
    this.listenToButtons();
    this.listenToBrush();
    this.listenToChips();
    this.restore();
    addEventListener("hashchange", () => this.restore());
    new ResizeObserver(() => { this.isLaidOut = true; this.draw(); }).observe(this.canvas);
    this.table.addEventListener("rows", () => this.complete(), { capture: true }); // before the new rows are sorted
    chart.dataset.ready = "";
  }

  /** Loads the older rows with the table, which is made after this chart. */
  async load() {
    if (!this.older) return;
    await null;
    await this.table.closest("[data-table]").filtered.load();
  }

  /** Takes over the older rows, which stand in the table now, and draws every value. */
  complete() {
    const [paths, values] = self.CHART?.pop() ?? [], there = new Set(this.rows);
    if (!values) return;
    this.rows = [...$$("tbody tr", this.table).filter(row => !there.has(row)).reverse(), ...this.rows.slice(this.older)];
    this.older = 0;
    Object.assign(this.data, values);
    for (const selector in paths) {
      $$(selector, this.chart).forEach((path, k) => { path.drawn = paths[selector][k]; path.setAttribute("d", path.drawn); });
    }
    $(".grouped", this.chart)?.remove();
    requestAnimationFrame(() => this.draw());
  }

  makeParts() {
    this.heatFrom = this.data.older ?? 0;
    this.words = new PointBox(this.data, this.table);
    this.tip = this.words.box;
    this.live = element("div", "vh");
    this.live.setAttribute("aria-live", "polite");
    this.chart.append(this.tip, this.live);
    this.cursors = this.canvases.map(canvas => {
      const cursor = element("div", "cur");
      canvas.append(cursor);
      return cursor;
    });
    const main = this.cursors[this.canvases.indexOf(this.canvas)];
    this.knobs = this.data.names.map((_, k) => {
      const knob = element("i", this.data.marks[k]);
      main.append(knob);
      return knob;
    });
    this.selection = element("div", "sel");
    this.canvas.append(this.selection);
    this.window = $(".brush .win", this.chart);
    this.labels = $$(".xa text", this.chart);
    this.chart.tabIndex = 0;
    this.chart.setAttribute("role", "group");
    this.chart.setAttribute("aria-roledescription", "interactive chart");
  }

  get size() { return this.last + 1; }
  get whole() { return this.from <= this.least && this.to >= this.most; }
  /** The indices of the first and the last iteration that are shown: at least the one that is nearest. */
  get visible() {
    const first = this.nearest(this.from), last = this.nearest(this.to);
    return [Math.min(last, first + (this.place(first) < this.from)), Math.max(first, last - (this.place(last) > this.to))];
  }
  /** The place of an iteration on the axis, from 0 to the index of the last; by date, between those around it. */
  place(index) {
    const k = clamp(Math.floor(index), 0, this.last - 1), { places } = this;
    return places ? places[k] + (index - k) * (places[k + 1] - places[k]) : index;
  }
  /** The index of the iteration that is nearest to a place. */
  nearest(place) {
    if (!this.places) return clamp(Math.round(place), 0, this.last);
    const after = this.places.findIndex(other => other >= place);
    return after < 0 ? this.last : after && place - this.places[after - 1] < this.places[after] - place ? after - 1 : after;
  }
  across(index) { return (this.place(index) - this.from) / (this.to - this.from); }
  down(value) { return 1000 * (this.data.scale[1] - value) / (this.data.scale[1] - this.data.scale[0]); }
  /** Of each line: by the clock that is shown, by the other one, or by both. */
  shown(k) { return this.clock === "now" && this.data.now[k] ? [this.data.now[k]] : this.clock || !this.data.now[k] ? [this.data.values[k]] : [this.data.values[k], this.data.now[k]]; }
  percent(value) { return `${100 * (this.top - value) / (this.top - this.bottom)}%`; }

  /* ---- drawing ---- */
  draw() {
    if (!this.isLaidOut) return; // the observer calls again when the page is: to read widths before would lay it out twice
    const [first, last] = this.visible, width = this.canvas.clientWidth, days = $(".xa", this.chart).getBoundingClientRect().width;
    if (!this.whole && first < this.older) this.load();
    this.fitMetrics(first, last);
    this.fitSteps();
    this.fitErrors(first, last);
    const span = this.to - this.from;
    for (const part of $$("[data-xonly]", this.chart)) {
      const box = part.getAttribute("viewBox").split(" ");
      part.setAttribute("viewBox", `${this.from} ${box[1]} ${span} ${box[3]}`);
    }
    this.labelDays(first, last, days);
    this.chart.classList.toggle("zoomed", (last - first) * 9 < width);
    if (this.window) {
      this.window.style.left = `${100 * (this.from - this.least) / this.size}%`;
      this.window.style.width = `${100 * span / this.size}%`;
    }
    for (const button of $$("[data-range]", this.card)) {
      const all = button.dataset.range === "all";
      const newest = !this.whole && last - first + 1 === +button.dataset.range && last === this.last;
      setPressed(button, all ? this.whole : newest);
    }
    const reset = $("[data-reset]", this.card);
    if (reset) reset.hidden = this.whole;
  }

  fitMetrics(first, last) {
    [this.bottom, this.top] = this.data.y;
    if (!this.whole) {
      const columns = this.data.names.flatMap((_, k) => (this.words.off.has(k) ? [] : this.shown(k)));
      const around = this.words.off.has(0) || this.clock === "now" ? [] : this.data.spans;
      const known = [...columns, around].flatMap(values => values.slice(first, last + 1).flat()).filter(value => value !== null);
      if (known.length) {
        const low = Math.min(...known), high = Math.max(...known), full = this.data.y[1] - this.data.y[0];
        const pad = Math.max(full * 0.02, (high - low) * 0.12);
        [this.bottom, this.top] = [Math.max(this.data.y[0], low - pad), Math.min(this.data.y[1], high + pad)];
      }
    }
    const y = this.down(this.top), height = this.down(this.bottom) - y;
    $(".pl", this.canvas).setAttribute("viewBox", `${this.from} ${y} ${this.to - this.from} ${height}`);
    const ticks = ticksBetween(this.bottom, this.top, 5, this.data.steps), gap = ticks.length > 1 ? ticks[1] - ticks[0] : 0.1;
    const digits = gap >= 0.01 && gap < 4 ? 2 : Math.max(0, Math.min(8, Math.ceil(-Math.log10(gap))));
    this.grid($(".grid", this.canvas), ticks.map(tick => this.down(tick)));
    $(".h-main .ya", this.chart).replaceChildren(...ticks.map(tick => this.tickText(this.percent(tick), tick.toFixed(digits))));
    for (const label of $$(".lb [data-y]", this.canvas)) {
      const value = +label.dataset.y;
      label.toggleAttribute("hidden", value < this.bottom || value > this.top);
      label.setAttribute("y", this.percent(value));
    }
    this.fitEnds(last);
  }

  /** The names of the lines at their ends with the values there, moved apart as on the server. */
  fitEnds(last) {
    const ends = $$("[data-end]", this.chart).map((end, k) => [end, this.shown(k)[0][last] ?? null]);
    ends.forEach(([end, value], k) => end.toggleAttribute("hidden", value === null || this.words.off.has(k)));
    const seen = ends.filter(([end]) => !end.hasAttribute("hidden")).sort((one, other) => other[1] - one[1]);
    const levels = seen.map(([, value]) => 100 * (this.top - value) / (this.top - this.bottom)), places = [...levels], gap = Math.min(6, 100 / places.length);
    places.forEach((place, k) => { places[k] = Math.max(place, k ? places[k - 1] + gap : 0); });
    for (let k = places.length - 1, below = 100; k >= 0; k -= 1, below -= gap) places[k] = below = Math.min(places[k], below);
    seen.forEach(([end, value], k) => {
      const [line, text] = end.children;
      line.setAttribute("y1", `${levels[k]}%`);
      line.setAttribute("y2", `${places[k]}%`);
      text.setAttribute("y", `${places[k]}%`);
      text.firstChild.textContent = this.words.metric(+end.dataset.end, value);
    });
  }

  /** The marks of steps are sorted by size: the first in view are shown, and their sentences below. */
  fitSteps() {
    const sentences = $$("p.step", this.chart);
    let room = 3;
    for (const mark of $$("[data-x]", this.canvas)) {
      const x = this.across(+mark.dataset.x), sentence = "step" in mark.dataset ? sentences.shift() : null;
      const shown = x >= 0 && x <= 1 && (!sentence || room > 0);
      mark.setAttribute("x", `${100 * x}%`);
      mark.toggleAttribute("hidden", !shown);
      if (sentence) { sentence.classList.toggle("no-js", !shown); room -= shown; }
    }
  }

  fitErrors(first, last) {
    const plot = $(".h-err .pl", this.chart);
    if (!plot) return;
    let top = this.data.top;
    if (!this.whole && first >= this.older) {
      const sums = this.rows.slice(first, last + 1).map(row => countOf(row, "errors"));
      top = Math.max(1, ...sums) * 1.06;
    }
    const share = top / this.data.top;
    plot.setAttribute("viewBox", `${this.from} ${1000 - 1000 * share} ${this.to - this.from} ${1000 * share}`);
    const ticks = ticksBetween(0, top, 2, this.data.steps).filter(Number.isInteger);
    this.grid($(".grid", plot), ticks.map(tick => 1000 - 1000 * tick / this.data.top));
    $(".h-err .ya", this.chart).replaceChildren(...ticks.map(tick => this.tickText(`${100 * (1 - tick / top)}%`, tick)));
  }

  grid(group, places) {
    group.replaceChildren(...places.map(y => svgElement("line", { x1: -1, x2: this.last + 1, y1: y, y2: y })));
  }

  tickText(y, text) { return svgElement("text", { x: "80%", y, dy: ".32em", "text-anchor": "end" }, text); }

  labelDays(first, last, width) {
    const axis = $(".xa", this.chart), chosen = new Set();
    const wanted = Math.max(1, Math.floor(width / 130));
    if (this.places) {
      const left = Math.max(0, this.from), right = Math.min(this.last, this.to), day = (this.days.at(-1) - this.days[0]) / this.last;
      const text = place => dayText(this.days[0] + place * day), parts = Math.max(1, Math.floor(width / 150));
      const places = Array.from({ length: parts + 1 }, (_, k) => left + (right - left) * k / parts).filter((place, k, all) => !k || text(place) !== text(all[k - 1]));
      axis.replaceChildren(...places.map((place, k) => svgElement("text", {
        x: `${100 * (place - this.from) / (this.to - this.from)}%`, y: 16, "text-anchor": k === 0 ? "start" : place === right ? "end" : "middle",
      }, text(place))));
      return;
    }
    if (first < this.older) { // the rows that name them are not here: as many of the server's labels as there is room for
      axis.replaceChildren(...this.labels.filter((_, k) => k % Math.ceil((this.labels.length - 1) / wanted) === 0));
      return;
    }
    const span = last - first, parts = span > wanted ? Math.max(1, Math.min(wanted, Math.floor(span / 2))) : Math.max(1, span);
    for (let k = 0; k <= parts; k += 1) chosen.add(Math.round(first + span * k / parts));
    const ends = last - first > 2;
    axis.replaceChildren(...[...chosen].map((index, k, all) => svgElement("text", {
      x: `${100 * this.across(index)}%`, y: 16,
      "text-anchor": !ends ? "middle" : k === 0 ? "start" : k === chosen.size - 1 ? "end" : "middle",
    }, this.name(index, all[k - 1]))));
  }

  /** The number of an iteration, and its day unless the label before it has the same. */
  name(index, before) {
    const { label, day } = new TablePoint(this.rows[index]), number = this.data.numbers?.[index] ?? /(\d+)\D*$/.exec(label)?.[1].replace(/^0+(?=\d)/, "") ?? label;
    return before !== undefined && new TablePoint(this.rows[before]).day === day ? number : `${number} · ${day.replace(/ \d{4}$/, "")}`;
  }

  /* ---- zoom ---- */
  zoom(from, to, silent) {
    const least = this.places ? this.size / 500 : Math.min(8, this.size);
    if (to - from < least) { const middle = (from + to) / 2; from = middle - least / 2; to = middle + least / 2; }
    if (from < this.least) { to += this.least - from; from = this.least; }
    if (to > this.most) { from -= to - this.most; to = this.most; }
    this.from = Math.max(this.least, from);
    this.to = Math.min(this.most, to);
    this.draw();
    if (silent) return;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      const [first, last] = this.visible;
      keepInHash({ x: this.whole ? "" : `${first + 1}-${last + 1}` }, !this.whole && !hash().has("x"));
    }, 250);
  }

  reset() { this.zoom(this.least, this.most); }

  /** Makes the part that is shown so many times as wide, around the chosen iteration. */
  scale(times) {
    const middle = this.at < 0 ? (this.from + this.to) / 2 : this.place(this.at), half = times * (this.to - this.from) / 2;
    this.zoom(middle - half, middle + half);
  }

  setClock() {
    for (const clock of CLOCKS) this.chart.classList.toggle(`only-${clock}`, this.clock === clock);
    for (const button of $$("[data-clock]", this.card)) setPressed(button, button.dataset.clock === this.clock);
    this.fillCounts(this.at < 0 ? this.last : this.at);
  }

  /** Puts iterations one after the other, or by date. */
  setAxis(name) {
    if (name === this.axis) return;
    this.axis = name;
    this.days = name ? daysOf(this.rows) : null;
    const [first, days] = name ? [this.days[0], this.days.at(-1) - this.days[0]] : [];
    this.places = this.days?.map(day => this.last * (day - first) / days);
    this.chart.classList.toggle("by-date", !!name);
    for (const path of $$(".cv path, .edits path, .brush path", this.chart)) {
      path.drawn ??= path.getAttribute("d");
      path.setAttribute("d", name ? moved(path.drawn, at => this.place(at)) : path.drawn);
    }
    for (const button of $$("[data-axis]", this.card)) setPressed(button, button.dataset.axis === name);
  }

  restore() {
    const address = hash(), kept = /^(\d+)-(\d+)$/.exec(address.get("x") ?? "");
    this.clock = this.data.now.length && CLOCKS.includes(address.get("clock")) ? address.get("clock") : "";
    this.setClock();
    this.setLines(address.has("lines") ? address.get("lines").split("\n") : null);
    const axis = $("[data-axis=time]", this.card) && address.get("axis") === "time" ? "time" : "";
    if (axis && this.older) this.load().then(() => { if (!this.older) this.restore(); });
    this.setAxis(this.older ? "" : axis);
    if (kept) this.zoom(this.place(kept[1] - 1.5), this.place(kept[2] - 0.5), true); else { this.from = this.least; this.to = this.most; this.draw(); }
  }

  /* ---- one point ---- */
  show(index, spoken) {
    this.byKey = Boolean(spoken);
    this.at = index = clamp(index, 0, this.last);
    const place = this.across(index);
    for (const cursor of this.cursors) { cursor.classList.add("on"); cursor.style.left = `${100 * place}%`; }
    if (!this.rows[index]) {
      this.tip.classList.remove("on");
      this.load().then(() => { if (this.at === index && this.rows[index]) this.show(index, spoken); });
      return;
    }
    const point = new TablePoint(this.rows[index]), values = this.data.names.map((_, k) => this.shown(k)[0][index]);
    this.knobs.forEach((knob, k) => {
      knob.hidden = values[k] === null || this.words.off.has(k);
      if (values[k] !== null) knob.style.top = this.percent(values[k]);
    });
    this.fillCounts(index);
    this.words.show(index, point);
    const width = this.chart.clientWidth, edge = this.canvas.getBoundingClientRect().left - this.chart.getBoundingClientRect().left;
    const x = edge + place * this.canvas.clientWidth;
    this.tip.classList.add("on");
    this.tip.style.left = `${x + 316 > width ? Math.max(4, x - 312) : x + 14}px`;
    this.tip.style.top = `${this.canvas.parentNode.offsetTop + 26}px`;
    if (spoken) this.live.textContent = this.words.spoken(index, point);
  }

  fillCounts(index) {
    for (const count of $$("[data-e]", this.chart)) count.textContent = countOf(this.rows[index], count.dataset.e);
  }

  leave() {
    this.tip.classList.remove("on");
    for (const cursor of this.cursors) cursor.classList.remove("on");
    for (const name of $$(".names li.on", this.chart)) name.classList.remove("on");
    this.at = -1;
    this.fillCounts(this.last);
  }

  async visit(index) {
    if (!this.rows[index]) await this.load();
    if (this.rows[index]) location.href = new TablePoint(this.rows[index]).file;
  }

  /* ---- pointer ---- */
  indexAt(event, canvas) {
    const box = canvas.getBoundingClientRect();
    return this.nearest(this.from + (this.to - this.from) * (event.clientX - box.left) / box.width);
  }

  listenToPointer() {
    for (const canvas of this.canvases) {
      let down = null;
      canvas.addEventListener("pointerdown", event => {
        if (event.button) return;
        down = { x: event.clientX, index: this.indexAt(event, canvas), was: this.at, touch: event.pointerType === "touch" };
        if (!down.touch) { canvas.setPointerCapture(event.pointerId); event.preventDefault(); }
      });
      canvas.addEventListener("pointermove", event => {
        if (this.byKey && !event.movementX && !event.movementY) return;   // the page moved under a resting mouse
        const index = this.indexAt(event, canvas);
        if (index !== this.at) this.show(index);
        this.nameRow(event, canvas);
        if (down && !down.touch && Math.abs(event.clientX - down.x) > 5) this.select(down.x, event.clientX);
      });
      canvas.addEventListener("pointerup", event => {
        if (!down) return;
        const index = this.indexAt(event, canvas), from = down;
        down = null;
        this.selection.classList.remove("on");
        if (!from.touch && Math.abs(event.clientX - from.x) > 5) this.zoom(this.place(Math.min(index, from.index) - 0.5), this.place(Math.max(index, from.index) + 0.5));
        else if (!from.touch || from.was === index) this.visit(index);
      });
      canvas.addEventListener("pointercancel", () => { down = null; this.selection.classList.remove("on"); });
      canvas.addEventListener("pointerleave", () => { if (!down && !this.byKey) this.leave(); });
      canvas.addEventListener("click", event => event.preventDefault());
    }
  }

  nameRow(event, canvas) {
    if (!canvas.dataset.rows) return;
    const box = canvas.getBoundingClientRect(), row = Math.floor((event.clientY - box.top) / box.height * +canvas.dataset.rows);
    const names = $$(".names li", this.chart), shares = this.data.heat?.[row]?.slice(0, this.at - this.heatFrom + 1), share = shares?.pop();
    const before = shares?.findLast(other => other !== null) ?? share;
    names.forEach((name, index) => name.classList.toggle("on", index === row));
    this.ofField ??= element("div", "m");
    this.ofField.textContent = share === undefined ? "" : `${names[row].title}: ${share === null ? "not judged" : `${share} % wrong${share === before ? "" : `, ${before} % before`}`}`;
    this.tip.prepend(this.ofField);
  }

  select(from, to) {
    const box = this.canvas.getBoundingClientRect();
    const left = clamp(Math.min(from, to), box.left, box.right), right = clamp(Math.max(from, to), box.left, box.right);
    this.selection.classList.add("on");
    this.selection.style.left = `${left - box.left}px`;
    this.selection.style.width = `${right - left}px`;
  }

  /* ---- keyboard ---- */
  listenToKeys() {
    this.chart.addEventListener("keydown", event => {
      if (event.target !== this.chart || event.ctrlKey || event.metaKey || event.altKey) return;
      const pressed = CHART_KEYS.find(([key]) => key === event.key);
      if (pressed) { event.preventDefault(); pressed[2](this, event.shiftKey ? 10 : 1); }
    });
    this.chart.addEventListener("blur", () => { this.byKey = false; this.leave(); });
  }

  go(index) {
    index = clamp(index, 0, this.last);
    const half = (this.to - this.from) / 2, place = this.place(index);
    if (place < this.from || place > this.to) this.zoom(place - half, place + half);
    this.show(index, true);
  }

  /* ---- buttons and brush ---- */
  listenToButtons() {
    for (const button of $$("[data-range]", this.card)) {
      button.addEventListener("click", () => (button.dataset.range === "all" ? this.reset() : this.zoom(this.place(this.size - button.dataset.range - 0.5), this.most)));
    }
    for (const button of $$("[data-clock]", this.card)) {
      button.addEventListener("click", () => {
        keepInHash({ clock: button.dataset.clock });
        this.clock = button.dataset.clock;
        this.setClock();
        this.draw();
      });
    }
    for (const button of $$("[data-axis]", this.card)) {
      button.addEventListener("click", () => { keepInHash({ axis: button.dataset.axis }); this.restore(); });
    }
    $("[data-reset]", this.card)?.addEventListener("click", () => this.reset());
  }

  /** Shows the lines of these names, by default the metrics and those of the first axis. */
  setLines(names) {
    const { off } = this.words, all = this.data.names;
    off.clear();
    all.forEach((name, k) => { if (names ? !names.includes(name) : k >= (this.data.first ?? all.length)) off.add(k); });
    for (const chip of $$("[data-chip]", this.card)) setPressed(chip, !off.has(+chip.dataset.chip));
    for (const fold of $$(".line-chips details:has([aria-pressed=true])", this.card)) fold.open = true;
    for (const part of $$("[data-line]", this.chart)) part.toggleAttribute("hidden", off.has(+part.dataset.line));
  }

  listenToChips() {
    for (const chip of $$("[data-chip]", this.card)) {
      onToggle(chip, () => {
        const names = this.data.names.filter((_, k) => isPressed($(`[data-chip="${k}"]`, this.card)));
        this.setLines(names);
        keepInHash({ lines: names.join("\n") }); // which no name has
        this.draw();
      });
    }
  }

  listenToBrush() {
    const brush = $(".brush", this.chart);
    if (!brush) return;
    let drag = null;
    const place = event => {
      const box = brush.getBoundingClientRect();
      return this.least + this.size * clamp((event.clientX - box.left) / box.width, 0, 1);
    };
    brush.addEventListener("pointerdown", event => {
      const at = place(event), near = 9 * this.size / brush.clientWidth;
      if (Math.abs(at - this.from) < near) drag = { edge: "from" };
      else if (Math.abs(at - this.to) < near) drag = { edge: "to" };
      else if (at > this.from && at < this.to && !this.whole) drag = { offset: at - this.from, width: this.to - this.from };
      else drag = { start: at };
      brush.setPointerCapture(event.pointerId);
    });
    brush.addEventListener("pointermove", event => {
      if (!drag) return;
      const at = place(event);
      if (drag.edge === "from") this.zoom(Math.min(at, this.to - 8), this.to);
      else if (drag.edge === "to") this.zoom(this.from, Math.max(at, this.from + 8));
      else if ("offset" in drag) { const from = clamp(at - drag.offset, this.least, this.most - drag.width); this.zoom(from, from + drag.width); }
      else if (Math.abs(at - drag.start) > this.size / 100) this.zoom(Math.min(at, drag.start), Math.max(at, drag.start));
    });
    for (const end of ["pointerup", "pointercancel"]) brush.addEventListener(end, () => { drag = null; });
  }
}

for (const chart of $$("[data-chart]")) new TrendChart(chart);
