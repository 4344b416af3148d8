// The tokens of assets/theme.css as plain strings, for the canvases.

const NAMES = ["bg", "panel", "field", "ink", "soft", "line", "fwd", "fwd-t", "bwd", "bwd-t", "on-bwd", "leaf", "leaf-t",
  "root", "root-t", "err", "err-t", "warn", "saved", "glow", "glow-fwd", "focus", "font", "mono"];

/** `{ bg, panel, fwdT … , mono }` as the page has them now. */
export function readTokens() {
  const style = getComputedStyle(document.documentElement);
  const tokens = {};
  for (const name of NAMES) tokens[name.replace(/-(\w)/g, (_, c) => c.toUpperCase())] = style.getPropertyValue(`--${name}`).trim();
  tokens.font ||= "sans-serif";
  tokens.mono ||= "monospace";
  return tokens;
}

/** Calls `changed` when the page's theme does; returns how to stop. */
export function watchTheme(changed) {
  const observer = new MutationObserver(changed);
  observer.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme", "class", "style"] });
  return () => observer.disconnect();
}
