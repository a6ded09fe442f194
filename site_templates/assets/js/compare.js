/* Two or more iterations of an eval. What sitegen judged is in the page's data and in files beside it, and this looks it up:
   the answer for the pairs that the build judged, what becomes of a cell from one state to another, and how uneven the flips of
   a field have to be until they are more than chance. See pages/compare.py. The tables are filled copies of the page's
   template, in which each has an empty row. The choice is in the address, #a=0012&b=0015&c=0016, and nothing else is ever shown for it.
   Two sides are compared value by value; more stand side by side, each with its difference to the first. So do the variants and models
   of the newest iteration, however few, in a card of their own with other letters in the address (`data-sides`). */
const OMISSION = 2, ABSENT = 6, LISTED = 200, FIELDS = 25, COMMITS = 8, OFFERED = 50, SIDES = "abcdef";
const FATES = ["broken", "fixed", "still_wrong", "appeared", "vanished"]; // as in sitegen/pages/compare.py
const outputOf = point => point.same ?? point.slug;
const isThere = run => run.state !== ABSENT, isWrong = run => run.state >= 2 && isThere(run);

class Comparison {
  constructor(card) {
    this.data = JSON.parse($("script", card).textContent);
    this.result = $("[data-result]", card);
    this.template = $("template", card);
    this.status = $("[data-said]", card);
    this.choices = $("[data-choices]", card);
    this.card = card;
    this.isOfAnswers = "sides" in card.dataset;
    this.letters = card.dataset.sides ?? SIDES;
    this.fields = [];
    this.add = $("[data-add]", card);
    this.command = card.dataset.compare;
    // A point whose cells are not in the page is written short.
    this.points = this.data.points.map(point => (Array.isArray(point)
      ? { slug: point[0], label: point[1], day: point[2], again: point[3], values: [point[4]], piece: point[5], same: point[6] } : { ...point, here: true }));
    this.page = { points: this.points.filter(point => point.here), block: this.data.block };
    this.pieces = new Map();
    this.prompts = new Map($$("[data-pair]").map(section => [section.dataset.pair, $("[data-prompts]", section)]));
    this.last = this.points.length - 1;
    this.best = this.place(this.data.best);
    this.nameAll();
    this.swap = $("[data-swap]", card);
    this.swap?.addEventListener("click", () => this.choose(...this.chosen.toReversed()));
    this.add.addEventListener("click", () => {
      const others = this.isOfAnswers ? [...this.points.keys()] : [this.best, ...this.points.keys()].reverse();
      this.choose(...this.chosen, others.find(place => !this.chosen.includes(place)));
      $("input", this.fields.at(-1)).focus();
    });
    $("[data-previous]", card)?.addEventListener("click", () => this.choose(this.last - 1, this.last));
    $("[data-best]", card)?.addEventListener("click", () => this.choose(this.best, this.last));
    for (const button of $$("[data-base]", card)) button.addEventListener("click", () => this.choose(this.place(button.dataset.base), this.last));
    addEventListener("hashchange", () => this.restore());
    this.restore();
  }

  /** By the name of a baseline, of a report, a label or a number: 0014, iteration-014, 014 or 14; the last three mean the iteration as last
      scored. Answers are found by what stands behind their axis too, `variant: careful`. */
  place(text) {
    const name = $$("[data-base]").find(button => button.dataset.name === text)?.dataset.base ?? text;
    const exact = this.points.findIndex(point => point.slug === name), number = label => label.replace(/^(iteration-)?0*(?=\d)|^\w+: /, "");
    return exact < 0 ? this.points.findLastIndex(({ label }) => label === name || number(label) === number(name)) : exact;
  }

  /** A side, and of others of the same sort the one with the best headline, in the order in which the build judges them. */
  withBest(own) {
    const sort = ({ slug }) => slug.replace(/=[^,]*/g, ""), worth = ({ values }) => (values[0] ?? 0) * (this.data.metrics[0][1] ? 1 : -1);
    const others = this.points.filter(point => point !== own && sort(point) === sort(own)).sort((one, other) => worth(other) - worth(one));
    return [own, ...others.slice(0, 1)].map(point => this.points.indexOf(point)).sort((one, other) => one - other);
  }

  /** The names of all points by place, and these newest first, with those that have the output of an earlier one last. */
  nameAll() {
    const copies = this.points.filter(point => point.same && !point.again), isCopy = place => copies.includes(this.points[place]);
    this.names = this.points.map(point => this.name(point, copies));
    this.offered = [...this.names.keys()].reverse().sort((one, other) => isCopy(one) - isCopy(other)).map(place => this.names[place]);
  }

  /** Fills the list that all sides share with the first names that have a text; a browser is slow with thousands. */
  offer(text) {
    $("datalist", this.choices.parentNode).replaceChildren(...this.having(text).slice(0, OFFERED).map(name => Object.assign(element("option"), { value: name })));
  }

  having(text) { return this.offered.filter(name => name.toLowerCase().includes(text.toLowerCase())); }

  /** A field for each side, with what is chosen; a field that is entered is empty, so that the list offers all. */
  fillChoices(places) {
    while (this.fields.length > places.length) this.fields.pop().remove();
    places.forEach((place, side) => {
      const field = this.fields[side] ??= this.field(side), input = $("input", field);
      $("span", field).textContent = this.sideName(side, places.length);
      $("button", field).hidden = places.length < 3;
      input.value = input.placeholder = this.names[place] ?? "";
    });
    this.add.hidden = places.length === this.letters.length || places.length >= this.points.length || places.some(place => place < 0);
    if (this.swap) this.swap.hidden = places.length > 2;
  }

  sideName(side, count) { return count > 2 || this.isOfAnswers ? `Side ${side + 1}` : ["Before", "After"][side]; }

  /** The field of a side: one of the two of the page, or a copy of the first. */
  field(side) {
    const box = this.choices.children[side] ?? this.choices.appendChild(this.choices.firstElementChild.cloneNode(true));
    const input = $("input", box), remove = $("button", box);
    remove.setAttribute("aria-label", `Remove side ${side + 1}`);
    remove.addEventListener("click", () => this.choose(...this.chosen.filter((_, other) => other !== side)));
    const take = place => this.choose(...this.chosen.with(side, place));
    for (const event of ["focus", "click"]) input.addEventListener(event, () => {
      if (input.value === input.placeholder) input.value = "";
      this.offer(input.value);
    });
    input.addEventListener("blur", () => { input.value ||= input.placeholder; });
    input.addEventListener("input", () => {
      if (this.names.includes(input.value)) take(this.names.indexOf(input.value));
      else this.offer(input.value);
    });
    input.addEventListener("change", () => {
      const name = input.value.trim(), [only, ...others] = this.having(name), exact = this.place(name);
      const found = exact < 0 && !others.length && !/^\d+$/.test(name) ? this.names.indexOf(only) : exact;
      if (name && name !== input.placeholder && found >= 0) take(found);
      else if (name && !this.names.includes(name)) this.unknown([name]);
    });
    return box;
  }

  name(point, copies) {
    const [value] = point.values, number = value === null ? "" : ` · ${this.data.metrics[0][0]} ${written(value)}`;
    const same = copies.filter(copy => copy.same === point.slug), original = copies.includes(point) ? this.points.find(({ slug }) => slug === point.same) : null;
    const note = original ? ` · same output as ${original.label}`
      : same.length ? ` · +${same.length} same output: ${same.slice(0, 3).map(copy => copy.label.replace(/^iteration-/, "")).join(", ")}${same.length > 3 ? " …" : ""}` : "";
    if (this.isOfAnswers) return point.label + number;
    return `${point.label}${point.again ? ` (rescored, ${point.slug})` : ""}${number} · ${point.day}${note}`;
  }

  restore() {
    const address = hash(), slugs = [...this.letters].map(name => address.get(name)).filter((slug, side) => side < 2 || slug !== null);
    const first = this.isOfAnswers ? [0, 1] : [this.best, this.last];
    const places = slugs.map((slug, side) => (slug === null ? first[side] : this.place(slug)));
    if (this.isOfAnswers && places[0] >= 0 && slugs[1] === null && slugs[0]) places.splice(0, 2, ...this.withBest(this.points[places[0]]));
    if (this.isOfAnswers && slugs.some(Boolean)) requestAnimationFrame(() => this.card.scrollIntoView());
    const unknown = slugs.filter((slug, side) => places[side] < 0);
    if (!unknown.length) { this.show(...places); return; }
    this.select(...places);
    this.unknown(unknown, ", which the address asks for", "Either the link is mistyped, or the history was rewritten since. ");
  }

  unknown(names, where = "", why = "") {
    const older = this.data.older ? ` It lists the newest ${grouped(this.points.length)} of this eval: sitegen compare finds the others in the terminal.` : "";
    this.say(`This page has no ${this.isOfAnswers ? "answers of" : "iteration"} “${names.map(short).join("” and no “")}”${where}.${older} ${why}Choose two above.`);
  }

  choose(...places) {
    if (places.some(place => place < 0)) { this.select(...places); return; } // another side is not chosen yet
    setHash(new URLSearchParams(places.map((place, side) => [this.letters[side], this.points[place].slug])).toString());
    this.show(...places);
  }

  select(...places) {
    this.chosen = places;
    this.fillChoices(places);
    for (const pair of $$("[data-pair]")) pair.classList.add("no-js");
    this.result.classList.remove("empty");
  }

  /** A sentence in place of a comparison. */
  say(sentence, command) {
    const line = element("p", "", sentence), box = element("div", "card-b compared");
    if (command) line.append(" ", element("code", "", command));
    box.append(line);
    this.status.textContent = line.textContent;
    this.result.replaceChildren(box);
  }

  async show(...places) {
    this.select(...places);
    const { chosen } = this, pair = places.map(place => this.points[place]), outside = pair.filter(point => !point.here);
    const label = point => `${point.label} (${point.slug})`;
    if (!outside.length) { this.draw(pair.map(point => this.side(this.page, point))); return; }
    if (pair.some(point => point.piece == null)) {
      const written = $$("[data-pair]").find(({ dataset }) => dataset.pair === pair.map(point => point.slug).join(" "));
      if (written) {
        written.classList.remove("no-js");
        this.result.classList.add("empty");
        this.result.replaceChildren();
        this.status.textContent = $("h2", written).textContent;
      } else {
        this.say(`${pair.map(label).join(" and ")} cannot be compared here: this eval has more values than its page may hold. In the terminal they can:`, this.inTerminal(pair));
      }
      return;
    }
    this.say(`Loading ${outside.map(label).join(" and ")} …`);
    const pieces = await Promise.all(pair.map(point => this.load(point.piece)));
    if (this.chosen !== chosen) return; // others were chosen meanwhile
    const sides = pieces.map((piece, side) => piece && this.side(piece, pair[side]));
    const lost = [...new Set(pair.filter((point, side) => !sides[side]).map(point => `compare-${point.piece}.js`))];
    if (lost.length) this.say(`${lost.join(" and ")} could not be loaded or does not belong to this page. It lies beside the page; copy it as well, or reload.`);
    else if (new Set(pieces.map(piece => piece.stamp)).size > 1) this.say("The site was built again meanwhile. Reload the page.");
    else this.draw(sides);
  }

  inTerminal(pair) {
    const name = ({ slug }) => (this.isOfAnswers ? `'${slug.replaceAll("'", "'\\''")}'` : `${this.command}@${slug}`);
    return `sitegen compare ${this.isOfAnswers ? `--eval ${this.command} ` : ""}${pair.map(name).join(" ")}`;
  }

  /** The file with the cells of some points; undefined if it cannot be loaded. */
  load(number) {
    if (!this.pieces.has(number)) {
      this.pieces.set(number, loadScript(`compare-${number}.js`).then(() => self.COMPARE?.find(({ piece }) => piece === number)));
    }
    return this.pieces.get(number);
  }

  /** A point with its cells; null if the data has another set of points. */
  side({ points, block }, { slug }) {
    const place = points.findIndex(point => point.slug === slug), at = this.place(slug);
    return place < 0 ? null : { point: points[place], block, place, points, at: at + this.data.older, following: this.points[at + 1] };
  }

  draw(sides) {
    this.sides = sides;
    this.parts = this.template.content.cloneNode(true);
    if (sides.length > 2 || this.isOfAnswers) { this.drawSides(sides); return; }
    const found = this.compare(...sides);
    const lists = FATES.filter(fate => found[fate].length).map(fate => this.list(found[fate], fate));
    this.prompt = this.prompts.get(sides.map(({ point }) => point.slug).join(" ")); // the pairs that the page shows without scripts
    const fields = this.fieldsPart(found), flips = element("div"), both = element("div", fields.length && this.prompt && "beside");
    flips.append(...fields);
    both.append(flips, this.prompt ?? "");
    this.result.replaceChildren(this.heads(), this.summary(found), this.numbers(found), this.edits(), both, ...lists);
  }

  /** Three or more sides: each further one with its verdict against the first, the metrics, and the values that differ. */
  drawSides(sides) {
    const [first, ...others] = sides, heads = element("div", "sides-ab"), { parts } = this;
    const names = sides.map(({ point }) => visible(point.label) + (point.again ? ` (${point.slug})` : ""));
    const columns = sides.map(() => []), metrics = new Map();
    sides.forEach((side, k) => {
      const box = this.head(this.sideName(k, sides.length), "", side);
      if (k) {
        this.sides = [first, side];
        const found = this.compare(first, side), count = fate => grouped(found[fate].length), link = element("a", "", "One by one");
        link.href = `#${new URLSearchParams({ a: first.point.slug, b: side.point.slug })}`;
        const values = this.isOfAnswers
          ? `${this.data.noun[2]}: ${count("broken")} right only with ${names[0]}, ${count("fixed")} only with ${names[k]}, ${count("still_wrong")} wrong with both.`
          : `${this.data.noun[2]}: ${count("fixed")} fixed, ${count("broken")} broken, ${count("still_wrong")} still wrong. `;
        const said = element("p", "", this.isRecorded ? "" : found.common ? values : "They have nothing in common with the first.");
        if (!this.isOfAnswers) said.append(link);
        box.append(...this.answer(true), said);
        for (const { metric, name, before, after, change } of this.rows(found)) {
          const row = metrics.get(name) ?? metrics.set(name, { metric, cells: [[before].flat()] }).get(name);
          row.cells.push([after, " ", change].flat());
        }
      }
      heads.append(box);
    });
    this.sides = [first, others.at(-1)];
    this.parts = parts;
    const table = this.widened("sides-metrics", names, [...metrics.values()]);
    const open = $(".pill.open", heads) ? [element("p", "rest", "Where it says not judged, the command below it tells whether the change is more than chance.")] : [];
    this.result.replaceChildren(heads, ...open, table, ...this.differing(sides, names));
    this.status.textContent = `${names.join(", ")} side by side.`;
  }

  /** The values that are wrong on a side and not the same on all. */
  differing(sides, names) {
    const rows = [];
    sides[0].block.cells.forEach(([document, field, path, extra], index) => {
      const runs = sides.map(side => this.at(side, index)), kind = run => `${run.state} ${isThere(run) && run.texts[run.actual]}`;
      if (runs.some(run => isThere(run) && isWrong(run)) && new Set(runs.map(kind)).size > 1) rows.push({ document, field, path, extra, runs, index });
    });
    if (!rows.length) return [];
    const listed = Math.floor((innerWidth < 600 ? LISTED / 2 : 2 * LISTED) / sides.length); // as many values as of two sides, few on a small screen
    const section = this.widened("sides-values", names, rows.slice(0, listed).map(({ runs, ...row }) => {
      const [before, after] = [runs.find(isThere), runs.findLast(isThere)];
      return { ...this.cell({ ...row, before, after }), cells: runs.map(run => this.given(run)) };
    })).closest("section");
    $("h3", section).append(grouped(rows.length));
    if (rows.length > listed) section.append(element("p", "rest", `${grouped(rows.length - listed)} more are not listed here. Two sides list more.`));
    return [section];
  }

  /** A table of the template whose column `side` is there once for each side; rows have the contents of these as `cells`. */
  widened(table, names, rows) {
    for (const cell of $$(`.${table} .c-side`, this.parts)) {
      cell.replaceWith(...names.map((name, k) => {
        const copy = cell.cloneNode(true);
        copy.className = copy.className.replace("c-side", `c-side${k}`);
        if (cell.tagName === "TH") copy.textContent = name;
        else copy.dataset.h = name;
        return copy;
      }));
    }
    return this.fill(table, rows.map(({ cells, ...row }) => ({ ...row, ...Object.fromEntries(cells.map((content, k) => [`side${k}`, content])) })));
  }

  /* ---- looking up and counting ---- */
  /** The cells by fate. Both blocks have the same cells, documents and fields in the same order. */
  compare(first, last) {
    const holds = ({ block, place }, document) => block.held[document].filter(start => start <= place).length % 2 === 1;
    const held = first.block.documents.map((_, document) => [holds(first, document), holds(last, document)]);
    const found = { held, fields: new Map(), apart: this.data.errors.map(() => 0) };
    for (const fate of FATES) found[fate] = [];
    first.block.cells.forEach(([document, field, path, extra, , item], index) => {
      const was = this.at(first, index), after = this.at(last, index), before = this.judgedAlike(was, first, last, index);
      const isCommon = held[document].every(Boolean), place = this.data.fates[+isCommon][before.state][after.state];
      if (!isCommon) [was, after].forEach((run, side) => { if (isWrong(run)) found.apart[run.state - 2] += side ? -1 : 1; });
      if (place === null) return;
      const fate = FATES[place], flipped = fate === "fixed" || fate === "broken";
      found[fate].push({ document, field, path, extra, before, after, index });
      const row = found.fields.get(field) ?? { field, before: 0, after: 0, items: new Map(), ...Object.fromEntries(FATES.map(name => [name, 0])) };
      row.before += isWrong(was);
      row.after += isWrong(after);
      row[fate] += 1;
      if (flipped) row.items.set(item, (row.items.get(item) ?? 0) + (fate === "fixed" ? 1 : -1));
      found.fields.set(field, row);
    });
    found.common = new Set((first.block.cases ?? [...held.keys()]).filter((_, document) => held[document].every(Boolean))).size;
    return found;
  }

  /** So many more of these flips may go one way than the other by chance: least_discordant in sitegen/stats/significance.py. */
  reach(flipped) {
    const rarer = this.sides[0].block.least.filter(least => least <= flipped).length;
    return rarer ? flipped - 2 * rarer + 1 : flipped;
  }

  at({ block, place }, index) {
    const runs = block.cells[index][4], run = runs.findLastIndex((start, k) => k % 4 === 0 && start <= place);
    return run < 0 ? { state: ABSENT } : this.period(block, runs, run);
  }

  period({ texts }, runs, k) { return { state: runs[k + 1], expected: runs[k + 2], actual: runs[k + 3], texts }; }

  /** What was in a cell before, as the ground truth and rules of a later point judge it: judged_alike in sitegen/model/outcomes.py. */
  judgedAlike(judged, { block, place, point, at, following }, last, index) {
    const output = outputOf(point), runs = output === outputOf(last.point) ? [] : block.cells[index][6] ?? [];
    for (let k = 0; k < runs.length; k += 4) if (runs[k] > at && runs[k] <= last.at && ((runs[k] === at + 1 && outputOf(following) !== output) || runs[k + 3] === judged.actual)) judged = this.period(block, runs, k);
    const later = this.at(last, index), label = later.texts?.[later.expected], own = block.cells[index][4];
    if (!runs.length || !isThere(judged) || !isThere(later) || judged.texts[judged.expected] === label) return judged;
    const starts = (runs, end) => [...runs.keys()].filter(k => k % 4 === 0 && runs[k] <= end).reverse().map(k => this.period(block, runs, k));
    const held = [...starts(runs, last.at), ...starts(own, place)]; // no output with this value saw the label change
    return held.find(run => isThere(run) && run.texts[run.expected] === label && run.actual === judged.actual) ?? judged;
  }

  /* ---- drawing ---- */
  heads() {
    const box = element("div", "sides-ab");
    box.append(...this.sides.map((side, k) => this.head(["Before", "After"][k], "ab"[k], side)));
    return box;
  }

  head(name, mark, { point }) {
    const box = element("div");
    if (this.isOfAnswers) box.append(element("p", "", visible(point.label)));
    else box.append(...rowsOf(`<p>${point.head}`));
    box.firstChild.prepend(...(mark ? [element("span", `sw ${mark}`)] : []), element("b", "", name), " ");
    return box;
  }

  /** What the build judged of a pair in this order, or of copies of both with the same values, and these copies; empty if it did not. */
  judged(...pair) {
    const [before, after] = pair.map(point => [point, ...this.points.filter(({ slug, same, values: [value] }) =>
      (same ?? slug) === (point.same ?? point.slug) && value?.toPrecision(6) === point.values[0]?.toPrecision(6))]);
    return before.flatMap(first => after.map(last => [this.data.judged[`${first.slug} ${last.slug}`], first, last])).find(([judged]) => judged) ?? [];
  }

  /** What the build judged of the pair, which is safe HTML; of any other that it was not judged, and how it can be. */
  answer(isBrief) {
    const [a, b] = this.sides.map(({ point }) => point);
    const [there] = this.judged(a, b), [judged, ...copies] = there ? this.judged(a, b) : this.judged(b, a);
    if (judged) {
      const rows = rowsOf(judged[0]), [text] = rows[0].childNodes, from = points => `From ${points.map(point => point.label).join(" to ")}:`;
      text.textContent = text.textContent.replace(from(copies), () => from(there ? [a, b] : [b, a])); // not the copies that the build judged
      if (!there && $(".pill", rows[0])) rows[0].prepend("The build judged this pair the other way round. ");
      return rows;
    }
    const line = element("p", "answer");
    if (outputOf(a) === outputOf(b)) line.append("Both are the same output: only ground truth and rules can make a difference.");
    else {
      const why = isBrief ? "" : "What changed is below. Whether it is more than chance, this command says: ";
      line.append(element("span", "pill open", "not judged"), ` ${why}`, element("code", "", this.inTerminal([a, b])));
    }
    return [line];
  }

  summary(found) {
    const count = fate => grouped(found[fate].length), said = element("p"), answer = this.answer();
    const moved = "moved" in answer[0].dataset ? "" : `${count("fixed")} fixed, ${count("broken")} broken, `; // which is said once
    said.append(`${this.data.noun[2]}: ${moved}${count("still_wrong")} still wrong.`);
    const only = side => found.held.filter(sides => sides[side] && !sides[1 - side]).length, [a, b] = this.sides.map(({ point }) => point);
    const others = this.sides[0].block.cases ? "answers" : this.data.noun[1], [one] = this.data.noun, noun = this.data.noun[+(found.common > 1)];
    const outside = [["before", only(0)], ["after", only(1)]].filter(([, count]) => count).map(([side, count]) => `${grouped(count)} ${side}`).join(", ");
    const [, both = outside && (found.common ? `Changes of metrics are over the ${grouped(found.common)} ${noun} in both; the values beside them also count other ${others}: ${outside}.`
      : `No ${this.sides[0].block.cases ? "answer" : one} is in both: ${outside}.`)] = this.judged(a, b)[0] ?? [];
    if (both || !found.common) said.append(` ${both || "The two hold nothing in common."}`);
    const box = element("div", "card-b verdict");
    if (this.isRecorded) said.textContent = "There are no values here that could be compared one by one.";
    box.append(...answer, said);
    this.status.textContent = $$("p", box).map(line => line.textContent).join(" ");
    return box;
  }

  get isRecorded() { return !this.data.errors.some(Boolean); }

  numbers(found) { return this.fill("metrics-ab", this.rows(found)); }

  /** Changes are over the documents that both sides have: the build knows them of the pairs that it judged. */
  rows(found) {
    const [before, after] = this.sides.map(side => side.point), rows = [];
    const apart = found.held.some(([first, last]) => first !== last);
    const there = this.judged(before, after)[0]?.slice(2), back = this.judged(after, before)[0]?.slice(2).map(change => (change === null ? null : -change));
    const common = there ?? back, of = k => (common?.length ? common[k] : apart ? null : undefined);
    const rejudged = before.judge && after.judge && before.judge !== after.judge, graded = rejudged ? this.data.graded ?? [] : [];
    const hasErrors = found.common && !graded.some(k => this.data.metrics[k][0] === "F1"); // which counts the same errors
    this.data.metrics.forEach(([label, higher, unit, isShare], k) => {
      const counted = unit === "count", whole = value => value === null || Number.isInteger(value);
      const digits = unit === "tokens" || (counted && whole(before.values[k]) && whole(after.values[k])) ? 0 : 3;
      const row = this.change(before.values[k], after.values[k], digits, Boolean(higher), counted ? "" : unit, of(k));
      if (apart && !common?.length) row.change = `other ${this.data.noun[1]}`;
      if (graded.includes(k)) row.change = "another judge";
      if (!k) for (const [side, { range }] of Object.entries({ before, after })) if (range) row[side] = [row[side], element("span", "range", range)];
      rows.push({ metric: label, name: label, ...row, bars: isShare ? this.bars(before.values[k], after.values[k]) : "" });
    });
    this.data.errors.forEach((word, k) => {
      if (!word) return;
      const [first, last] = [before.errors[k], after.errors[k]];
      rows.push({ metric: this.part(`name${k}`), name: word, ...this.change(first, last, 0, false, "", hasErrors ? last - first + found.apart[k] : null) });
    });
    return rows;
  }

  /** Two bars, one below the other; each a share of the whole width. */
  bars(...shares) {
    const drawn = svgElement("svg", { class: "ab", viewBox: "0 0 100 2", preserveAspectRatio: "none", "aria-hidden": "true" });
    drawn.append(...shares.map((share, k) => svgElement("path", { class: "ab"[k], d: `M0 ${k + 0.5}H${tenths(100 * (share ?? 0))}` })));
    return drawn;
  }

  /** The fields that changed, those that changed most first; none if there are none. */
  fieldsPart({ fields }) {
    const nets = row => [...row.items.values()].filter(Boolean).map(Math.sign), changed = row => row.fixed + row.broken;
    const rows = [...fields.values()].filter(row => changed(row) || row.before !== row.after)
      .map(row => ({ ...row, net: nets(row).reduce((total, sign) => total + sign, 0), flipped: nets(row).length }))
      .sort((one, other) => Math.abs(other.net) - Math.abs(one.net) || changed(other) - changed(one) || Math.abs(other.after - other.before) - Math.abs(one.after - one.before));
    if (!rows.length) return [];
    const listed = rows.slice(0, FIELDS), scale = Math.max(1, ...listed.map(row => row.flipped));
    const section = this.fill("fields-ab", listed.map(row => ({
      ...row, ...this.change(row.before, row.after, 0, false), net: this.net(row, scale),
      field: this.link(row.field, this.sides[0].block.fields[row.field][0]),
    }))).closest("section");
    if (rows.length > FIELDS) section.append(element("p", "rest", `${grouped(rows.length - FIELDS)} more changed less.`));
    return [section];
  }

  /** A path with the address of the page of its field. */
  link(field, path) {
    const [link] = this.part("where");
    link.href = `fields/${this.sides[0].block.fields[field][1]}`;
    $("code", link).append(...short(path).split(MAY_WRAP).flatMap((part, k) => (k ? [element("wbr"), part] : part)));
    return link;
  }

  /** How many more values or cases were fixed than broken, and how many more or fewer it may be by chance. */
  net({ net, flipped }, scale) {
    const reach = this.reach(flipped);
    if (!flipped) return "";
    const [low, high] = [Math.max(-flipped, net - reach), Math.min(flipped, net + reach)], sure = Math.abs(net) > reach;
    const [drawn] = this.part("net"), [left, right, dot] = [low, high, net].map(value => tenths(100 * value / scale));
    drawn.setAttribute("class", `ivl ${sure ? (net > 0 ? "u" : "d") : "n"}`);
    $(".w", drawn).setAttribute("d", `M${left} 6H${right}`);
    $(".m", drawn).setAttribute("d", `M${dot} 6h0`);
    const count = number => `${number > 0 ? "+" : number ? "−" : ""}${grouped(Math.abs(number))}`;
    return [drawn, element("span", "by nowrap", `${count(low)} to ${count(high)}, ${sure ? "more than chance" : "could be zero"}`)];
  }

  /** Two places, the earlier one first, and the commits that edited instructions between them, newest first. */
  between(...places) {
    places.sort((one, other) => one - other);
    return { places, isNamed: !this.data.unnamed || places[0] >= this.data.edits[0][0], between: this.data.edits.filter(([place]) => place > places[0] && place <= places[1]).reverse() };
  }

  /** Where a cell last became what it is on the later side, and the edits between that point and the one before it that is known. */
  since(index) {
    const [first, last] = this.sides, { points, place } = last, now = this.at(last, index);
    let start = place;
    for (let k = place - 1; k >= 0; k -= 1) { // the ground truth and rules of the later side judge all outputs
      const side = this.side(last, points[k]);
      const run = outputOf(points[k]) === outputOf(last.point) ? now : this.judgedAlike(this.at(side, index), side, last, index);
      if (isWrong(run) !== isWrong(now)) break;
      if (isThere(run)) start = k;
    }
    const at = points[start], before = points[start - 1] ?? first.point, places = [before, at].map(({ slug }) => this.place(slug));
    let known = start - 1; // neither a copy nor another output of the same commit says which edits came before this output
    while (known >= 0 && (points[known].short === at.short || (known && outputOf(points[known]) === outputOf(points[known - 1])))) known -= 1;
    const { isNamed, between: [edit, ...earlier] } = this.between(points[known] ? this.place(points[known].slug) : start ? -1 : places[0], places[1]);
    const link = Object.assign(element("a", "", at.label), { href: `${at.slug}.html` }), by = element("span", "by", edit ? ", after " : isNamed ? ", no edit before it" : "");
    if (edit) by.append(this.edit(edit), earlier.length ? ` or ${grouped(earlier.length)} earlier ${earlier.length === 1 ? "edit" : "edits"}` : "");
    return places[1] - places[0] > 1 ? [`after ${before.label}, by `, link, by] : [link, by];
  }

  edit([, , page, subject]) { return page ? Object.assign(element("a", "", visible(subject)), { href: page }) : visible(subject); }

  /** The commits that edited instructions between both sides, and the command that shows all of it as one diff. */
  edits() {
    const { places, isNamed, between } = this.between(...this.sides.map(({ point }) => this.place(point.slug)));
    const box = element("section", "card-b");
    box.append(element("h3", "", "Instructions edited between them"));
    const unnamed = isNamed ? "" : " Edits before those listed are not named here.";
    if (!between.length) box.append(element("p", "", unnamed ? "They are too old for this page." : "No instructions that drive this eval were edited between the two."));
    if (!between.length) return box;
    const list = box.appendChild(element("ul", "edited"));
    for (const edit of between.slice(0, COMMITS)) {
      const [, sha, , , paths] = edit;
      list.appendChild(element("li")).append(this.edit(edit), " ", element("span", "muted", `${sha}, ${paths.length} ${paths.length === 1 ? "file" : "files"}`));
    }
    if (between.length > COMMITS) list.append(element("li", "muted", `and ${grouped(between.length - COMMITS)} earlier`));
    const sides = places.map(place => this.sides.find(({ point }) => point.slug === this.points[place].slug).point);
    const files = [...new Set(between.flatMap(([,,,, paths]) => paths))].map(path => this.data.paths[path]);
    const line = box.appendChild(element("p", "muted", `All of it as one diff${this.prompt ? " in the terminal" : ""}: `));
    line.append(element("code", "", `git diff ${sides.filter(point => point.commit).map(point => point.short).join(" ")} -- ${files.join(" ")}`), unnamed);
    return box;
  }

  /** Both sides of a number, and its change; `over`: the change over what both have in common, if it is another one. */
  change(before, after, digits, higherIsBetter, unit, over) {
    const known = before !== null && after !== null && over !== null, change = known ? over ?? after - before : 0, size = Math.abs(change);
    const amount = value => `${unit === "tokens" ? fixed(value, 0)
      : fixed(value, value && value < 1 ? Math.min(8, 2 - Math.floor(Math.log10(value))) : 2).replace(/(\.\d\d\d*?)0*$/, "$1")} ${unit}`;
    const text = value => (value === null ? "—" : digits ? (unit ? amount(value) : written(value)) : grouped(value));
    const [moved] = this.part(`moved${Math.sign(change)}`);
    if (change) {
      moved.classList.add(change > 0 === higherIsBetter ? "up" : "dn");
      moved.lastChild.data = ` ${digits && !unit && size < 0.0005 ? "< 0.001" : text(size)}`;
    }
    return { before: text(before), after: text(after), change: known ? moved : "—" };
  }

  list(cells, fate) {
    const section = $(`#h-0-${fate}`, this.parts).closest("section"), listed = $(".tw", section);
    $("h3", section).append(grouped(cells.length));
    const fill = () => {
      this.fill(listed, cells.slice(0, LISTED).map(cell => ({ ...this.cell(cell), since: $(".c-since", listed) && this.since(cell.index) })));
      const edits = $$(".c-since .by", listed); // what the row above names is not shown again
      edits.forEach((by, row) => by.classList.toggle("again", by.textContent === edits[row - 1]?.textContent));
      if (cells.length > LISTED) listed.after(element("p", "rest", `${grouped(cells.length - LISTED)} more are not listed here.`));
    };
    if (fate !== "still_wrong") fill();
    else {
      const folded = element("details", "pairing");
      folded.append(element("summary", "", "One by one"), listed);
      section.append(folded);
      (self.requestIdleCallback ?? setTimeout)(() => { if (section.isConnected) fill(); }); // unless another pair was chosen meanwhile
    }
    return section;
  }

  /** The missing item that an extra one on a side may be, by its values there: likely_items in sitegen/pages/report/discrepancies.py. */
  likely(side, document, item) {
    const { cells } = side.block, runs = side.runs ??= cells.map((_, index) => this.at(side, index)), votes = new Map();
    const stated = cells.flatMap(([, field, , extra, , own], index) => (extra && own === item && isThere(runs[index]) ? [[field, runs[index].actual]] : []));
    cells.forEach(([of, field, path, extra, , own], index) => {
      if (extra || of !== document || runs[index].state !== OMISSION) return;
      if (stated.some(([name, actual]) => name === field && actual === runs[index].expected)) votes.set(own, [(votes.get(own)?.[0] ?? 0) + 1, path]);
    });
    const [[most, path] = [0], [second] = [0]] = [...votes.values()].sort(([one], [other]) => other - one);
    return most > second && most >= Math.max(2, stated.length / 2) ? `perhaps ${path.slice(0, path.lastIndexOf("]") + 1)}, by ${most} of ${stated.length} values` : "";
  }

  cell({ document, field, path, extra, before, after, index }) {
    const { documents, pages } = this.sides[0].block, name = documents[document], page = pages[document];
    const where = [this.link(field, path)], there = [after, before].filter(isThere), [, named, added] = this.part("where");
    named.textContent = short(name);
    if (name) where.push(" ", page ? Object.assign(element("a", "", short(name)), { href: `cases/${page}.html` }) : named);
    const side = extra && this.sides.findLast(side => isThere(this.at(side, index)));
    if (side) where.push(" ", added, " ", element("span", "muted", short(this.likely(side, document, side.block.cells[index][5]))));
    const expected = [this.value(there[0], there[0].expected, "blank")];
    if (there.length === 2 && before.expected !== after.expected) expected.push(element("i", "", ` was ${visible(before.texts[before.expected] || "blank")}`));
    return { where, expected, before: this.given(before), after: this.given(after) };
  }

  given(run) {
    if (!isThere(run)) return this.part("not there");
    return [...this.part(isWrong(run) ? `mark${run.state - 2}` : "right"), " ", this.value(run, run.actual, run.state === 1 ? "blank" : "missing")];
  }

  value({ texts }, place, none) {
    const text = texts[place];
    return text ? visible(text) : this.part(text === null ? none : "blank")[0];
  }

  /** A part of cells as all pages have it, such as the mark of a type of errors: a copy of its elements in the template. */
  part(name) { return [...$(`[data-part="${name}"]`, this.template.content).cloneNode(true).children]; }

  /** A table of the template with a copy of its empty row for each of these, which have contents of cells by the names of columns. */
  fill(table, rows) {
    const box = typeof table === "string" ? $(`.${table}`, this.parts).parentNode : table, body = $("tbody", box), empty = body.firstElementChild;
    body.replaceChildren(...rows.map(contents => {
      const row = empty.cloneNode(true);
      for (const cell of row.cells) {
        const content = contents[columnOf(cell)] ?? "";
        cell.append(...[typeof content === "number" ? grouped(content) : content].flat());
      }
      return row;
    }));
    return box;
  }
}

const tenths = value => String(+value.toFixed(1));
const MAY_WRAP = /(?<=[./_])(?=[^./_]{4})|(?<=[^./_])(?=\[[^\]]{3})/; // as `path` in pages/html/formats.py
const short = text => visible(text.length > 200 ? `${text.slice(0, 200)} …` : text);

/** What cannot be seen, or turns the direction of writing, made visible: ‹U+202E›. */
function visible(text) {
  return text.replace(/[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]/g,
    one => `‹U+${one.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}›`);
}

for (const card of $$("[data-compare]")) new Comparison(card);
