/* On a wide screen the chosen error of a report stands beside the list: its row, cell by cell, each below the head of its column. */
const isWide = matchMedia("(min-width: 1280px)");

/** The whole path of an error: its place, behind the name of its list item unless the row has that already. */
function pathOf(row) {
  const item = $(".item b", bodyOf(row))?.textContent ?? "", place = $(".c-place a", row).textContent.trim();
  return place.startsWith(item) ? place : item + (place[0] === "[" ? "" : ".") + place;
}

function newPane(card) {
  const pane = element("div", "disc pane"), bar = element("p", "acts"), note = document.getElementById("note");
  const button = (name, key, pressed) => {
    const made = element("button", "btn", name);
    if (key) made.append(element("kbd", "", key));
    made.type = "button";
    made.addEventListener("click", pressed);
    return made;
  };
  pane.setAttribute("role", "group");
  pane.setAttribute("aria-label", "The chosen error");
  bar.append(button("Previous", "k", () => stepToError(-1)), button("Next", "j", () => stepToError(1)), button("Close", "Esc", closePane));
  const more = element("p", "acts"), tree = $(".head a[href$='-tree.html']");
  pane.append(bar, element("h3", "c-type"), element("dl"), more);
  if (tree) more.append(tree.cloneNode(true));
  if (note) {
    more.append(button("Add a note", "", () => {
      note.open = true;
      note.scrollIntoView({ block: "center" });
    }));
  }
  pane.hidden = true;
  $(".tw", card).after(pane);
  return pane;
}

/** Changes the width of the list, and leaves a row where it is on the screen. */
function around(row, change) {
  const above = row?.getBoundingClientRect().top;
  change();
  if (row) scrollBy(0, row.getBoundingClientRect().top - above);
}

/** Shows the error of a row beside the list. */
function showBeside(row) {
  const card = row.closest("table.disc")?.closest(".card");
  if (!card || !isWide.matches) return;
  const pane = card.pane ??= newPane(card);
  const type = $(".c-type", row), heads = $$("thead th", card), title = $("h3", pane), list = $("dl", pane);
  Object.assign(pane.dataset, { t: row.dataset.t, row: row.id });
  title.textContent = `${type.textContent}, error ${row.id.slice(1)}`;
  title.dataset.l = type.dataset.l ?? type.textContent[0];
  list.replaceChildren(...[...row.cells].flatMap((cell, k) => {
    if (cell.matches(".c-number,.c-type")) return [];
    const value = element("dd", cell.className);
    value.dir = cell.dir;
    value.append(...cell.cloneNode(true).childNodes);
    return [element("dt", "", heads[k].textContent), value];
  }));
  $(".c-place a", list).textContent = pathOf(row);
  if ($("[data-note]")) noteOn(row);
  around(row, () => { pane.hidden = false; });
  pane.scrollTop = 0;
}

function closePane() {
  const pane = $(".pane:not([hidden])");
  if (pane) around(document.getElementById(pane.dataset.row), () => { pane.hidden = true; });
  if (rowInHash()) keepInHash({}, false, "");
}

addEventListener("click", event => {
  const row = event.target.closest(".disc tbody tr[id]");
  if (row && !event.target.closest("a, summary") && getSelection().isCollapsed && isWide.matches) reach(row);
});
