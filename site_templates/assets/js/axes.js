/* The axes of a chart: round numbers, and iterations by their dates in place of one after the other. */

/** Multiples within [low, high] of the least of the steps, which are round numbers, that gives no more than wanted. */
function ticksBetween(low, high, wanted, steps) {
  const step = steps.find(value => value >= (high - low) / wanted * (1 - 1e-9)) ?? steps.at(-1), out = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k += 1) out.push(+(k * step).toFixed(6));
  return out;
}

/** Where iterations stand by date, in days since 1970. Those of one day share its width; a date before an earlier one counts as that. */
function daysOf(rows) {
  const days = rows.map(row => Date.parse(`${new TablePoint(row).day} UTC`) / 864e5), shared = new Map();
  days.forEach((day, k) => { days[k] = Math.max(day || 0, days[k - 1] ?? 0); shared.set(days[k], (shared.get(days[k]) ?? 0) + 1); });
  return days.map((day, k) => day + (k - days.indexOf(day) + 0.5) / shared.get(day));
}
/** A day as the page writes it: 5 Feb 2026. */
const dayText = day => new Date(day * 864e5).toUTCString().slice(5, 16).replace(/^0/, "");

/** The path of a chart with each x at another place. Of its commands, M, L and H have places, m and h differences. */
function moved(path, place) {
  let x = 0;
  return path.replace(/([MLHmh])(-?[\d.]+)/g, (_, command, number) => {
    const from = x, isPlace = command < "a";
    x = isPlace ? +number : x + +number;
    return command + (place(x) - (isPlace ? 0 : place(from))).toFixed(3);
  });
}
