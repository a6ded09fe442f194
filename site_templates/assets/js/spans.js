/* Marked texts: one category, some outcomes. Other marks step back, texts without any left are hidden. What is chosen
   is kept in the address, as `category` and `mark`. */
class MarkedTexts {
  constructor(box) {
    this.texts = $$(".spans > li", box);
    this.category = $("[data-category]", box);
    this.outcomes = $$("[data-outcome]", box);
    this.status = $("[data-count]", box);
    this.category?.addEventListener("change", () => this.changed());
    for (const button of this.outcomes) onToggle(button, () => this.changed());
    addEventListener("hashchange", () => this.restore());
    this.restore();
    box.dataset.ready = "";
  }

  changed() {
    keepInHash({ category: this.category?.value, mark: this.chosen.join() });
    this.show();
  }

  restore() {
    const kept = hash(), outcomes = (kept.get("mark") ?? "").split(",");
    if (this.category) this.category.value = kept.get("category") ?? "";
    if (this.category && this.category.selectedIndex < 0) this.category.value = "";
    for (const button of this.outcomes) setPressed(button, outcomes.includes(button.dataset.outcome));
    this.show();
  }

  get chosen() { return this.outcomes.filter(isPressed).map(button => button.dataset.outcome); }

  show() {
    const category = this.category?.value ?? "", outcomes = this.chosen, all = !category && !outcomes.length;
    let texts = 0, marks = 0;
    for (const text of this.texts) {
      const hits = new Set();
      for (const mark of $$(".hl", text)) {
        const hit = (!category || mark.dataset.c === category)
          && (!outcomes.length || outcomes.some(outcome => mark.classList.contains(outcome)));
        mark.classList.toggle("dim", !hit);
        if (hit && $(":scope > small", mark)) hits.add(mark);
      }
      text.hidden = !all && !hits.size;
      texts += !text.hidden;
      marks += hits.size;
    }
    const of = all ? "" : `${marks} ${marks === 1 ? "highlight" : "highlights"} in ${texts} of `, total = this.texts.length;
    this.status.textContent = `${of}${total} ${total === 1 ? "paragraph" : "paragraphs"}`;
  }
}

for (const box of $$("[data-spans]")) new MarkedTexts(box);
