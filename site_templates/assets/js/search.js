/* Search over the whole site. The index is a handful of scripts (see sitegen/pages/data/search.py), loaded on first use,
   newest first; values and verdicts are loaded with the first word. */
const searchButton = $("[data-search]");
if (searchButton) {
  const root = siteRoot;
  const dialog = element("dialog", "pal"), input = element("input"), list = element("ul"), status = element("p", "pal-n muted small");
  dialog.setAttribute("aria-label", "Search");
  Object.assign(input, { type: "search", ariaLabel: "Search", placeholder: "Search evals, iterations, fields, values, edits, authors, dates", autocomplete: "off", spellcheck: false });
  input.setAttribute("aria-controls", "found");
  Object.assign(list, { id: "found", role: "listbox", ariaLabel: "Found" });
  status.setAttribute("aria-live", "polite");
  dialog.append(input, list, status);
  document.body.append(dialog);
  const entries = [];
  let current = 0, started = null, missing = 0, unread = null;

  const load = async name => { if (!await loadScript(`${root}search/${name}.js`)) missing += 1; };
  const take = (part, key) => {
    const at = (self.SEARCH ?? []).findIndex(one => one[0] === part && String(one[1]) === String(key));
    return at < 0 ? null : self.SEARCH.splice(at, 1)[0][2];
  };
  /* Without case and accents. */
  const plain = text => text.toLowerCase().normalize("NFD").replace(/\p{M}/gu, "");
  /** As on all pages: ``5 Sep 2026``, where "en-GB" has "Sept". */
  const dated = day => day && new Date(day).toUTCString().slice(5, 16).replace(/^0/, "");
  const add = (title, address, note, kind, author = "", day = "", words = "") => {
    const folder = address.startsWith("evals/") ? address.split("/")[1] : "";   // the eval's id
    note = [note, author, dated(day)].filter(Boolean).join(" · ");
    entries.push({ title, address, note, kind, day, text: plain(`${title} ${note} ${day} ${folder} ${kind} ${words}`) });
  };

  async function loadIndex() {
    await load("list");
    const known = take("list", 0);
    if (!known) return;
    for (const [title, address, note, words] of known.evals) add(title, address, note, "eval", "", "", words);
    for (const [title, address, note] of known.files) add(title, address, note, "file");
    for (const [title, address, note] of known.pages) add(title, address, note, "page");
    for (const link of $$(".nav a")) add(link.textContent, link.getAttribute("href").slice(root.length), "", "page");
    find();
    for (let shard = known.shards - 1; shard >= 0; shard -= 1) {
      await load(shard);
      for (const [title, address, note, author, day] of (take("log", shard) ?? []).reverse()) {
        add(title, address, note, address.startsWith("commits/") ? "edit" : "iteration", author, day);
      }
      find();
    }
    const files = new Map();
    for (const [name, folder, digest] of known.fields) {
      if (!files.has(digest)) { await load(`fields-${digest}`); files.set(digest, take("fields", digest) ?? []); }
      for (const [field, page] of files.get(digest)) add(field, `${folder}/${page ?? field}.html`, name, folder.endsWith("/cases") ? "case" : "field");
    }
    unread = known.values;
    find();
  }

  async function loadValues() {
    const files = unread;
    unread = null;
    for (const [name, id, path] of files) {
      await load(path.slice("search/".length, -".js".length));
      for (const [of, address, texts, kind = "value", day = ""] of take("values", id) ?? []) for (const text of texts) add(text, address, `${of}, ${name}`, kind, "", day);
    }
    find();
  }

  /* How well a text matches a part of a word: one that starts the text counts most, one that starts a word of it more
     than one inside a word. */
  const placed = (text, part) => {
    if (text.startsWith(part)) return 8;
    for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + 1)) if (/[\s./_[\]-]/.test(text[at - 1])) return 5;
    return Number(text.includes(part));
  };

  /** A test of one word of the query. ``lamb-adu`` is also found as ``Lamb ADU``, and 55 as ``iteration-055``. */
  const matcher = word => {
    const parts = word.split(/[^\p{L}\p{N}]+/u).filter(part => part && part !== word).map(matcher);
    const number = /^\d+$/.test(word) && new RegExp(`(^|\\D)0*${word.replace(/^0+(?=\d)/, "")}(\\D|$)`);
    return entry => {
      if (number && number.test(entry.title)) return 9;
      const whole = placed(entry.text, word);
      if (whole || !parts.length) return whole;
      return Math.min(4, ...parts.map(match => match(entry)));
    };
  };

  /* Every word has to be found, in any order, in whichever part of the entry; together they count more. */
  const rank = (entry, matchers, phrase) => {
    const isLogged = /^(iteration|edit|verdict)$/.test(entry.kind);
    let score = { eval: 3, value: -.5, "earlier value": -1 }[entry.kind] ?? 0;
    for (const match of matchers) {
      const gain = match(entry);
      if (!gain) return 0;
      score += isLogged && gain === 8 ? 5 : gain;   // how a subject begins counts no more than who wrote it
    }
    if (placed(entry.text, phrase) > 1) score += matchers.length - 1 && 10;
    return score + (isLogged ? .1 : 10 / (10 + entry.text.length));   // those stay newest first
  };

  /* Whether two words differ by one letter: a wrong, missing or added one, or two that changed places. */
  const isTypo = (word, other) => {
    if (Math.abs(word.length - other.length) > 1) return false;
    let start = 0, end = 0;
    while (start < word.length && word[start] === other[start]) start += 1;
    while (end < Math.min(word.length, other.length) - start && word.at(-1 - end) === other.at(-1 - end)) end += 1;
    const [left, right] = [word, other].map(one => one.slice(start, one.length - end));
    return Math.max(left.length, right.length) < 2 || (left.length === 2 && left === [...right].reverse().join(""));
  };
  const near = word => {
    const exact = matcher(word), parts = word.split(/[^\p{L}\p{N}]+/u).filter(Boolean);
    if (parts.length > 1) return entry => Math.min(...parts.map(near).map(match => match(entry)));
    return entry => Math.max(exact(entry), 2 * (word.length > 3 && entry.text.split(/[^\p{L}\p{N}]+/u).some(other => isTypo(word, other))));
  };
  const ranked = (matchers, phrase) => entries.map(entry => [rank(entry, matchers, phrase), entry]).filter(hit => hit[0] > 0)
    .sort((a, b) => b[0] - a[0] || (b[1].day > a[1].day) - (b[1].day < a[1].day)).map(hit => hit[1]);

  function find() {
    const words = plain(input.value).split(/[\s,]+/).filter(Boolean);
    if (words.length && unread) loadValues();
    const exact = words.map(matcher), isTyped = entries.some(entry => exact.every(match => match(entry) > 1)); // not only inside other words
    const hits = words.length ? ranked(isTyped ? exact : words.map(near), words.join(" ")) : entries;
    list.replaceChildren(...hits.slice(0, words.length ? 40 : 8).map((entry, index) => {
      const item = element("li"), link = element("a");
      Object.assign(link, { href: root + entry.address, id: `found-${index}`, role: "option" });
      item.role = "presentation";
      link.append(element("b", "one", entry.title), element("i", "", entry.kind), element("span", "one", entry.note));
      item.append(link);
      return item;
    }));
    current = 0;
    mark();
    status.textContent = missing && !entries.length ? "The search index could not be loaded."
      : words.length ? `${hits.length} found${isTyped || !hits.length ? "" : " with one letter changed"}${hits.length > 40 ? ", the first 40 shown" : ""}` : "";
  }

  function mark() {
    $$("a", list).forEach((link, index) => link.setAttribute("aria-selected", index === current));
    const chosen = $("[aria-selected=true]", list);
    input.setAttribute("aria-activedescendant", chosen?.id ?? "");
    chosen?.scrollIntoView({ block: "nearest" });
  }

  function open() {
    dialog.showModal();
    input.select();
    started ??= loadIndex();
  }

  searchButton.addEventListener("click", open);
  input.addEventListener("input", find);
  dialog.addEventListener("click", event => { if (event.target === dialog || event.target.closest("a")) dialog.close(); });
  input.addEventListener("keydown", event => {
    const links = $$("a", list), step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) { event.preventDefault(); current = clamp(current + step, 0, links.length - 1); mark(); }
    if (event.key === "Escape") { event.preventDefault(); dialog.close(); input.blur(); } // which would first be emptied, and keep the keys
    if (event.key === "Enter" && links[current]) { event.preventDefault(); links[current].click(); }
  });
}
