// Runs before the first paint, so that a dark page never flashes white and no panel jumps to its size: the theme of the
// address, else the one chosen last, else the system's; and the panels as they were left (panels.mjs writes them).
(function () {
  const root = document.documentElement;
  const asked = new URLSearchParams(location.search);
  const item = (key) => {
    try { return localStorage.getItem(key); } catch { return null; } // storage may be forbidden: then nothing is kept
  };
  const theme = [asked.get("theme"), item("backstep.theme")].find((name) => name === "light" || name === "dark");
  root.dataset.theme = theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  root.dataset.page = asked.has("program") ? "player" : "gallery";
  if (asked.has("pair")) root.dataset.pair = "";
  let panels = {};
  try { panels = JSON.parse(item("backstep.panels") || "{}") || {}; } catch { /* what is damaged is as if it were not there */ }
  for (const name of ["left", "right", "story"]) {
    if (/^\d+(px|%)$/.test(panels[name] || "")) root.style.setProperty("--" + name + "-set", panels[name]);
  }
  root.dataset.right = panels.rightClosed || matchMedia("(max-width: 1365px)").matches ? "closed" : "open";
  root.toggleAttribute("data-left-closed", Boolean(panels.leftClosed));
})();
