// Starts the app behind the front door. Its scripts are in a template, so that the first picture does not wait for them.

/** Starts the app, once: its files in their order, and then the line that runs them. */
export async function startApp() {
  const template = /** @type {HTMLTemplateElement | null} */ (document.getElementById("held"));
  if (!template) return;
  template.remove();
  const scripts = [...template.content.querySelectorAll("script")];
  const [files, lines] = [scripts.filter((one) => one.src), scripts.filter((one) => !one.src)];
  await Promise.all(files.map((one) => new Promise((done, failed) => {
    const script = copyOf(one);
    script.async = false;
    script.onload = done;
    script.onerror = failed;
    document.body.append(script);
  })));
  lines.forEach((one) => document.body.append(copyOf(one)));
}

/** A script that came in a template does not run; its copy does. */
function copyOf(script) {
  const copy = document.createElement("script");
  for (const { name, value } of script.attributes) copy.setAttribute(name, value);
  copy.textContent = script.textContent;
  return copy;
}
