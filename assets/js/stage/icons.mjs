// The few icons of the stage and the footer, as SVG elements (16 x 16, in the colour of the text).

const SVG = "http://www.w3.org/2000/svg";
const PATHS = {
  first: "M3 3h2v10H3zM14 3v10L6 8z",
  back: "M12 3v10L4 8z",
  play: "M4 2.5v11l9-5.5z",
  pause: "M4 3h3v10H4zM9 3h3v10H9z",
  step: "M4 3v10l8-5z",
  last: "M11 3h2v10h-2zM2 3v10l8-5z",
  previousCall: "M8 3v10L1 8zM15 3v10L8 8z",
  nextCall: "M1 3v10l7-5zM8 3v10l7-5z",
  plus: "M7 3h2v4h4v2H9v4H7V9H3V7h4z",
  minus: "M3 7h10v2H3z",
  fit: "M2 2h5v2H4v3H2zM9 2h5v5h-2V4H9zM2 9h2v3h3v2H2zM12 9h2v5H9v-2h3z",
  follow: "M7 1h2v2.1A5 5 0 0 1 12.9 7H15v2h-2.1A5 5 0 0 1 9 12.9V15H7v-2.1A5 5 0 0 1 3.1 9H1V7h2.1A5 5 0 0 1 7 3.1zM8 5a3 3 0 1 0 0 6 3 3 0 0 0 0-6z",
  search: "M7 1a6 6 0 1 0 3.5 10.9l3.1 3.1 1.4-1.4-3.1-3.1A6 6 0 0 0 7 1zM7 3a4 4 0 1 1 0 8 4 4 0 0 1 0-8z",
  cells: "M2 2h5v5H2zM9 2h5v5H9zM2 9h5v5H2zM9 9h5v5H9z",
};

export function icon(name) {
  const svg = document.createElementNS(SVG, "svg");
  for (const [key, value] of Object.entries({ viewBox: "0 0 16 16", width: 16, height: 16, "aria-hidden": "true" })) svg.setAttribute(key, String(value));
  const path = document.createElementNS(SVG, "path");
  path.setAttribute("d", PATHS[name]);
  path.setAttribute("fill", "currentColor");
  svg.append(path);
  return svg;
}
