/* The few helpers that the other scripts share. All of them run in one scope (see the ordered list in
   sitegen/engine/worker_context.py); every page is complete without them, they only add to the markup that is there. */
const $ = (selector, from = document) => from.querySelector(selector);
const $$ = (selector, from = document) => [...from.querySelectorAll(selector)];
const element = (tag, className, text) => {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (text != null) made.textContent = text;
  return made;
};
const svgElement = (tag, attributes, text) => {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const name in attributes) made.setAttribute(name, attributes[name]);
  if (text != null) made.textContent = text;
  return made;
};
/* Data that a page loads later is a classic script, because `fetch` does not exist on file:// (sitegen/pages/data/search.py).
   The policy lets through only scripts beside the page and parts of the search index. */
const siteRoot = $("[data-search]")?.dataset.root ?? "";
const isDataScript = url => /^(search\/)?[\p{L}\p{N}][\p{L}\p{M}\p{N}._-]*\.js$/u.test(url.startsWith(siteRoot) ? url.slice(siteRoot.length) : url);
const policy = window.trustedTypes?.createPolicy("sitegen", {
  createScriptURL: url => { if (!isDataScript(url)) throw new TypeError("not a data file of this site"); return url; },
  createHTML: rows => rows, // escaped where they were written, as those of the page
});
const loadScript = url => new Promise(done => {
  const script = document.createElement("script");
  script.src = policy ? policy.createScriptURL(url) : url;
  script.onload = () => done(true);
  script.onerror = () => done(false);
  document.head.append(script);
});
const rowsOf = html => {
  const made = document.createElement("template");
  made.innerHTML = policy ? policy.createHTML(html) : html;
  return [...made.content.children];
};
/* The cell of a row in a column, by the name of the column (sitegen/pages/html/tables.py), and the name of the column of a cell. */
const cellOf = (row, column) => $(`.c-${column}`, row);
const columnOf = cell => /(?:^| )c-(\S+)/.exec(cell.className)?.[1];
/* The body of a table that a row stood in when the page was loaded; a table that is sorted has all rows in one. */
const bodyOf = row => (row.body ??= row.parentNode);
const isTyping = target => /^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName ?? "") && target.type !== "radio";
const clamp = (value, low, high) => Math.min(high, Math.max(low, value));
/* What the address keeps: the choices on a page, and last the row that was chosen (#type=omission&d12). */
const rowInHash = () => /[#&](d\d+)$/.exec(location.hash)?.[1];
const hash = () => new URLSearchParams(location.hash.slice(1).replace(/(^|&)d\d+$/, ""));
const setHash = (text, isStep = false) =>
  history[isStep ? "pushState" : "replaceState"](null, "", text ? "#" + text : location.pathname + location.search);
/* Keeps some of them in the address: what is empty is no choice. Back undoes a choice that is a step of its own. */
const keepInHash = (choices, isStep, row = rowInHash()) => {
  const kept = new URLSearchParams([...hash()].filter(([, value]) => value)); // not the name of a heading
  for (const name in choices) if (choices[name]) kept.set(name, choices[name]); else kept.delete(name);
  setHash([kept.toString(), row].filter(Boolean).join("&"), isStep);
};
/* Says something for a moment, on the screen and to screen readers. */
const said = element("p", "saying");
said.setAttribute("role", "status");
document.body.append(said);
const say = text => {
  said.textContent = text;
  clearTimeout(said.unsay);
  said.unsay = setTimeout(() => { said.textContent = ""; }, 4000);
};
/* A button that stays pressed until it is pressed again. */
const isPressed = button => button.getAttribute("aria-pressed") === "true";
const setPressed = (button, pressed) => button.setAttribute("aria-pressed", String(pressed));
const onToggle = (button, changed) => button.addEventListener("click", () => { setPressed(button, !isPressed(button)); changed(); });
/* A number with its thousands set apart. Whole ones without the tables of the locale, which take longer to load than a page to draw. */
const grouped = number => (Number.isInteger(number) ? String(number).replace(/\B(?=(\d{3})+$)/g, ",") : number.toLocaleString("en"));
