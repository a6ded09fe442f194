/* The keys: one table for all pages, and CHART_KEYS for a chart. From both, the handlers and the list of keys are made. */
const KEYS = [
  ["/", "Search the site", () => searchButton?.click()],
  ["j", "Next error on the page", () => stepToError(1)],
  ["k", "Previous error on the page", () => stepToError(-1)],
  ["n", "Next newly wrong error; the others are hidden", () => stepToNew()],
  ["Escape", "Close the error beside the list", () => closePane()],
  ["]", "Next iteration, edit or page of commits", () => turn("next", "after")],
  ["[", "Previous iteration, edit or page of commits", () => turn("prev", "before")],
  ["?", "Show all keys", () => showKeys()],
];

/* Errors of a report, of a page of truth beside output, and what is wrong now on the page of a field. */
const ERRORS = ".disc tr[id], .tree tr.w, .cellruns tr.cellname:has(.pill.bad)";
const errorsShown = () => $$(ERRORS).filter(row => !row.closest(".cut,.off"));

const reached = () => $("tr[aria-current=true]");
const forgetReached = () => reached()?.removeAttribute("aria-current");
addEventListener("hashchange", () => { if ($("tr:target")) forgetReached(); });
/** Makes a row the one from which the keys go on, and shows it beside the list; the address names it. */
function reach(row) {
  forgetReached();
  row.setAttribute("aria-current", "true");
  row.tabIndex = -1;
  row.focus({ preventScroll: true });
  if (row.id) keepInHash({}, false, row.id);
  showBeside(row);
}

/*
 * Moves the focus to the next (1) or previous (-1) error that the filter leaves: from the row that has the focus, else the
 * one that the keys have reached, else the one that the address names. At the end of the rows shown, more are shown.
 */
function stepToError(step) {
  const at = document.activeElement.closest(ERRORS) ?? reached() ?? $("tr:target"), before = errorsShown();
  const more = step > 0 && at && at === before.at(-1) && $("[data-more]:not([hidden])", at.closest("[data-table]") ?? at);
  if (more) more.click();
  const rows = errorsShown(), place = rows.indexOf(at);
  const row = place < 0 ? rows.at(step > 0 ? 0 : -1) : rows[place + step];
  const end = `This is the ${step > 0 ? "last" : "first"} error${$("[data-filtered]") ? " that the filter leaves" : ""}`;
  if (!row) return more ? null : say(rows.length ? end : "No errors here");
  const head = $(".item details", bodyOf(row)); // of the list item whose rows these are
  if (head) head.open = true;
  for (let fold = row.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
  reach(row);
  row.scrollIntoView({ block: "center" });
}

function stepToNew() {
  const flag = $$("[data-flag=n]").at(-1); // cases have one as well, before that of errors
  if (flag && !isPressed(flag)) flag.click();
  if (flag) stepToError(1);
  else say("Nothing is newly wrong here");
}

/** Follows the link to the page before or after this one. */
function turn(rel, side) {
  const link = $(`.head a[rel=${rel}]`);
  if (link) link.click();
  else if ($(".head [data-listed], .head a[rel]")) say(`Nothing comes ${side} this one`);
}

let keysDialog = null;
function showKeys() {
  if (!keysDialog) {
    keysDialog = element("dialog", "pal keys");
    const head = element("h2", "", "Keys"), close = element("button", "btn", "Close");
    head.id = "h-keys";
    keysDialog.setAttribute("aria-labelledby", head.id);
    close.type = "button";
    close.addEventListener("click", () => keysDialog.close());
    const list = rows => {
      const made = element("dl");
      for (const [key, text] of rows) {
        const term = element("dt");
        term.append(element("kbd", "", key));
        made.append(term, element("dd", "", text));
      }
      return made;
    };
    keysDialog.append(head, list(KEYS));
    if ($("[data-chart]")) keysDialog.append(element("h3", "", "While a chart has the focus"), list(CHART_KEYS.map(([, text, , shown]) => [shown, text])));
    keysDialog.append(close);
    document.body.append(keysDialog);
  }
  keysDialog.showModal(); // which gives the focus back when it closes
}

$("[data-keys]")?.addEventListener("click", showKeys);
addEventListener("keydown", event => {
  const pressed = KEYS.find(([key]) => key === event.key);
  if (!pressed || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target) || $("dialog[open]")) return;
  event.preventDefault();
  pressed[2]();
});
