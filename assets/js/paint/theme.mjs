// The tokens of assets/css/theme.css as plain strings, for the canvases.

const NAMES = ["bg", "panel", "field", "ink", "soft", "line", "edge", "focus", "forward", "forward-tint", "gradient", "gradient-tint", "gradient-full",
  "on-gradient", "positive", "negative", "leaf", "leaf-tint", "root", "root-tint", "saved", "freed", "error", "error-tint", "warning",
  "changed", "changed-tint", "glow", "glow-forward", "font", "mono", "text-least", "text-note", "text-body"];

/** `{ bg, panel, forwardTint …, mono, textLeast … }` as the page has them now; sizes of text are numbers of px. */
export function readTokens() {
  const style = getComputedStyle(document.documentElement);
  const tokens = {};
  for (const name of NAMES) {
    const value = style.getPropertyValue(`--${name}`).trim();
    tokens[name.replace(/-(\w)/g, (_, c) => c.toUpperCase())] = name.startsWith("text-") ? parseFloat(value) : value;
  }
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
