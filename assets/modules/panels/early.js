// Runs before the first paint, so that a dark page never flashes white: the theme of the address, else the one chosen
// last, else the system's.
(function () {
  const asked = new URLSearchParams(location.search).get("theme");
  let kept = null;
  try { kept = localStorage.getItem("backstep.theme"); } catch { /* storage may be forbidden: then nothing is kept */ }
  const known = [asked, kept].find((name) => name === "light" || name === "dark");
  const system = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  const root = document.documentElement;
  root.dataset.theme = known || system;
  root.dataset.page = new URLSearchParams(location.search).has("program") ? "player" : "gallery";
})();
