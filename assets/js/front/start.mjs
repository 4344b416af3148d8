// The app behind the front door.  Its scripts are held in a template, so that the first picture does not wait for them.

/** Starts the app, once: its files in their order, and then the line that runs them. */
export async function startApp() {
  const held = /** @type {HTMLTemplateElement | null} */ (document.getElementById("held"));
  if (!held) return;
  held.remove();
  const scripts = [...held.content.querySelectorAll("script")];
  const [files, lines] = [scripts.filter((one) => one.src), scripts.filter((one) => !one.src)];
  await Promise.all(files.map((one) => new Promise((done, failed) => {
    const made = copyOf(one);
    made.async = false;
    made.onload = done;
    made.onerror = failed;
    document.body.append(made);
  })));
  lines.forEach((one) => document.body.append(copyOf(one)));
}

/** A script that came in a template does not run; its copy does. */
function copyOf(script) {
  const made = document.createElement("script");
  for (const { name, value } of script.attributes) made.setAttribute(name, value);
  made.textContent = script.textContent;
  return made;
}
