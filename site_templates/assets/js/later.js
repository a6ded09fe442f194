/* Parts of a long page that were not laid out with it (tables.css) are laid out, a few at a time, while the browser is idle and
   the reader looks at the first screen: the page then has its full height before anybody goes to its end. */
const waiting = self.requestIdleCallback ? $$(".later, .disc tbody") : [];
const layOut = number => { for (const part of waiting.splice(0, number)) part.style.contentVisibility = "visible"; };
function layOutIdly() {
  layOut(6);
  if (waiting.length) requestIdleCallback(layOutIdly);
}
if (waiting.length) {
  addEventListener("load", () => setTimeout(() => requestIdleCallback(layOutIdly), 400));
  addEventListener("keydown", event => {
    if (event.key !== "End") return;
    layOut(waiting.length);
    document.documentElement.getBoundingClientRect(); // or the key goes to where the end was before
  });
}
