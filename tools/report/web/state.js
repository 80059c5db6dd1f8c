// What the reader looks at, kept in the address of the page, so that a link leads to the same section, step and tile:
// #trace&step=12&tile=3.

const linked = new Map();

function addressed() {
  const [place, ...pairs] = location.hash.slice(1).split("&");
  return { place, values: new URLSearchParams(pairs.join("&")) };
}

/** Calls ``apply`` with the text of ``key`` in the address, now and whenever somebody changes the address. */
function link(key, apply) {
  linked.set(key, apply);
}

/** Puts a value into the address; null takes it out. */
function remember(key, value) {
  const { place, values } = addressed();
  if (value === null) values.delete(key);
  else values.set(key, value);
  writeAddress(place, values);
}

function writeAddress(place, values) {
  const rest = values.toString();
  history.replaceState(null, "", place || rest ? `#${place}${rest ? `&${rest}` : ""}` : location.pathname);
}

/** Scrolls to a section, and keeps what else the address says. */
function goTo(id) {
  writeAddress(id, addressed().values);
  document.getElementById(id)?.scrollIntoView({ block: "start" });
}

/** Shows what the address says. */
function followAddress() {
  const { place, values } = addressed();
  for (const [key, apply] of linked) if (values.has(key)) apply(values.get(key));
  if (place) document.getElementById(place)?.scrollIntoView({ block: "start", behavior: "instant" });
}
