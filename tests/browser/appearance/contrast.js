// How well the text and the signs of everything that can be pressed are read: `contrast.controls(known)` marks what there is,
// `contrast.poor(state)` lists what has less than WCAG 2 asks for (AA: text 4.5 to 1, signs and icons 3 to 1).
globalThis.contrast = (() => {
  const CONTROLS = "button, a[href], summary, select, input, textarea, [role=button], [role=tab], [role=menuitem], "
    + "[role=menuitemradio], [role=option], [role=switch], [role=combobox], [role=separator], [tabindex='0']";
  const WORDS = ["title", "aria-label", "aria-description", "alt", "href", "data-program"];
  const [TEXT, SIGN] = [4.5, 3];
  const pixel = Object.assign(document.createElement("canvas"), { width: 1, height: 1 }).getContext("2d", { willReadFrequently: true });
  const known = new Map();

  /** [red, green, blue, alpha], each from 0 to 1, of whatever a computed style calls a colour. */
  function rgba(text) {
    if (!known.has(text)) {
      pixel.clearRect(0, 0, 1, 1);
      pixel.fillStyle = text;
      pixel.fillRect(0, 0, 1, 1);
      known.set(text, [...pixel.getImageData(0, 0, 1, 1).data].map((x) => x / 255));
    }
    return known.get(text);
  }

  const over = ([r, g, b, a], under) => [r, g, b].map((x, i) => x * a + under[i] * (1 - a));
  const mixed = (one, other, share) => one.map((x, i) => x * share + other[i] * (1 - share));
  const light = (colour) => [0.2126, 0.7152, 0.0722].reduce((sum, w, i) => sum + w * (colour[i] <= 0.04045 ? colour[i] / 12.92 : ((colour[i] + 0.055) / 1.055) ** 2.4), 0);

  function ratio(one, other) {
    const [a, b] = [light(one), light(other)];
    return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  }

  /** The contrast of a colour inside an element with the ground on which it stands, both as opacities leave them. */
  function against(element, colour) {
    const chain = [];
    for (let one = element; one; one = one.parentElement) chain.unshift(one);
    let ground = [1, 1, 1];
    const groups = [];
    for (const one of chain) {
      const { backgroundColor, opacity, filter } = getComputedStyle(one);
      if (filter !== "none") return 0; // a filter changes both, and nobody knows how far
      if (Number(opacity) < 1) groups.push([ground, Number(opacity)]);
      if (!one.matches(".icon")) ground = over(rgba(backgroundColor), ground);
    }
    const seen = (inner) => groups.reduceRight((now, [under, share]) => mixed(now, under, share), inner);
    return ratio(seen(over(rgba(colour), ground)), seen(ground));
  }

  const isSeen = (element) => element.checkVisibility({ visibilityProperty: true }) && !element.closest(".unseen, .bs-hidden, mjx-container") && element.getClientRects().length > 0;

  /** What is read in a control: [{ what, colour, element, least }]. */
  function read(control) {
    const parts = [];
    if (control.matches("input, select, textarea")) {
      const style = getComputedStyle(control, control.placeholder && !control.value ? "::placeholder" : null);
      const text = control.value || control.placeholder;
      return text && !control.matches("[type=checkbox], [type=radio]") ? [{ what: text, colour: style.color, element: control, least: TEXT }] : [];
    }
    const walker = document.createTreeWalker(control, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const [text, element] = [walker.currentNode.data.trim(), walker.currentNode.parentElement];
      if (text && isSeen(element)) parts.push({ what: text, colour: getComputedStyle(element).color, element, least: /[\p{L}\p{N}]/u.test(text) ? TEXT : SIGN });
    }
    for (const icon of control.querySelectorAll(".icon")) if (isSeen(icon)) parts.push({ what: icon.className, colour: getComputedStyle(icon).backgroundColor, element: icon, least: SIGN });
    for (const svg of control.querySelectorAll("svg:not(.main-svg)")) { // a figure of Plotly is not a sign
      const shape = svg.querySelector("path, line, circle, rect, polyline") ?? svg;
      const { stroke, fill } = getComputedStyle(shape);
      if (isSeen(svg)) parts.push({ what: "svg", colour: stroke !== "none" ? stroke : fill, element: svg, least: SIGN });
    }
    return parts;
  }

  const all = () => [...document.querySelectorAll("[data-probe]")];

  /** A control as its style sees it: of each text only whether it is read or a sign, and no words in its attributes. */
  function plain(control) {
    const copy = control.cloneNode(true);
    const walker = document.createTreeWalker(copy, NodeFilter.SHOW_ALL);
    for (let one = walker.currentNode; one; one = walker.nextNode()) {
      if (one.nodeType === Node.TEXT_NODE) one.data = one.data.trim() && (/[\p{L}\p{N}]/u.test(one.data) ? "a" : "*");
      else if (one.nodeType === Node.ELEMENT_NODE) WORDS.forEach((name) => one.hasAttribute(name) && one.setAttribute(name, ""));
    }
    return copy.outerHTML;
  }

  /** What a control looks like: itself, and the classes around it, on which its ground depends. */
  function looks(control) {
    const around = [];
    for (let one = control.parentElement; one; one = one.parentElement) around.push(`${one.id} ${one.className}`);
    return `${document.documentElement.dataset.theme} ${plain(control)} ${around.join("/")}`;
  }

  /** Marks one of each kind that can be pressed, except what looks like something in `known`; says what the marked ones look like. */
  function controls(known) {
    all().forEach((one) => one.removeAttribute("data-probe"));
    const found = new Map();
    const seen = new Set(known);
    for (const one of document.querySelectorAll(CONTROLS)) {
      const look = isSeen(one) ? looks(one) : "";
      if (look && !seen.has(look) && !found.has(look)) found.set(look, one);
    }
    found.forEach((one) => one.setAttribute("data-probe", ""));
    return [...found.keys()];
  }

  /** States that an attribute says: each is set on every control that can have it, and taken back. */
  const STATES = {
    rest: [() => false],
    disabled: [(one) => one.matches("button, select, input"), "disabled", "", "data-disabled", "true"],
    pressed: [(one) => one.hasAttribute("aria-pressed"), "aria-pressed", "true"],
    released: [(one) => one.hasAttribute("aria-pressed"), "aria-pressed", "false"],
    selected: [(one) => one.hasAttribute("aria-selected"), "aria-selected", "true"],
    checked: [(one) => one.hasAttribute("aria-checked"), "aria-checked", "true"],
  };

  function poor(name) {
    const [able, ...pairs] = STATES[name];
    const found = new Set();
    const changed = all().filter(able).flatMap((one) => pairs.flatMap((key, i) => (i % 2 ? [] : [[one, key, one.getAttribute(key)]])));
    changed.forEach(([one, key]) => one.setAttribute(key, pairs[pairs.indexOf(key) + 1]));
    for (const control of name === "rest" ? all() : all().filter(able)) {
      for (const { what, colour, element, least } of read(control)) {
        const got = against(element, colour);
        if (got < least) found.add(`${control.id || control.className || control.tagName} \u201c${what.slice(0, 24)}\u201d ${got.toFixed(2)}`);
      }
    }
    changed.forEach(([one, key, before]) => (before === null ? one.removeAttribute(key) : one.setAttribute(key, before)));
    return [...found];
  }

  return { controls, poor, states: Object.keys(STATES) };
})();
