/* Comes with every page that `sitegen watch` serves, and with no other: says what is wrong with the last build, and loads
   the page again when it has changed, at the same place, with what the reader unfolded. Filters and open rows are in the
   address, which stays. */
(() => {
"use strict";
const PLACE = "sitegen-watch";
const shown = `"${document.currentScript.dataset.tag}"`;

const banner = document.createElement("pre");
banner.className = "watch-banner";
banner.setAttribute("role", "alert");
const say = text => {
  banner.textContent = text;
  if (text) document.body.prepend(banner);
  else banner.remove();
};

// By the words of their line, whose numbers may change, and which of those with the same words it is.
const folds = () => {
  const seen = new Map();
  return [...document.querySelectorAll("details")].map(fold => {
    const line = fold.querySelector("summary"), words = line ? line.textContent.replace(/[\d.,]+/g, "0").trim() : "";
    seen.set(words, (seen.get(words) ?? 0) + 1);
    return [`${seen.get(words)} ${words}`, fold];
  });
};
const untouched = new Map(folds().map(([name, fold]) => [name, fold.open]));

const leave = () => {
  const focused = document.activeElement && document.activeElement.id;
  const turned = folds().map(([name, fold]) => [name, fold.open]).filter(([name, open]) => untouched.get(name) !== open);
  sessionStorage.setItem(PLACE, JSON.stringify({path: location.pathname, x: scrollX, y: scrollY, focused, turned}));
  location.reload();
};

const comeBack = () => {
  const place = JSON.parse(sessionStorage.getItem(PLACE) || "null");
  sessionStorage.removeItem(PLACE);
  if (!place || place.path !== location.pathname) return;
  const turned = new Map(place.turned);
  for (const [name, fold] of folds()) fold.open = turned.get(name) ?? fold.open;
  const focused = place.focused && document.getElementById(place.focused);
  if (focused) focused.focus({preventScroll: true});
  scrollTo(place.x, place.y);
};

const look = async () => {
  const answer = await fetch(location.pathname, {method: "HEAD", cache: "no-store"});
  if (answer.headers.get("ETag") !== shown) leave();
};

// A browser opens six connections to a server at most: a page that nobody sees gives its own back.
let events = null;
const listen = () => {
  if (events) events.close();
  events = null;
  if (document.hidden) return;
  events = new EventSource("/.sitegen/events");
  events.onmessage = event => {
    say(JSON.parse(event.data));
    look().catch(() => {}); // the server ended in between: the next line says so
  };
  events.onerror = () => say("sitegen watch does not answer any more: this page is as it was when it ended.");
};

addEventListener("load", comeBack);
document.addEventListener("visibilitychange", listen);
listen();
})();
