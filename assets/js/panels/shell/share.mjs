// Share: a link to this view; for a loopback address, which no other machine can open, the alternatives.
import { fill, h } from "../../page/dom.mjs";

const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/;

export class Share {
  /**
   * @param {import("../../page/toast.mjs").Toast} toast
   * @param {() => void} lesson saves this program as a lesson
   */
  constructor(toast, lesson) {
    this.toast = toast;
    this.lesson = lesson;
    /** @type {HTMLDialogElement | null} made when it is first asked for */
    this.dialog = null;
  }

  open() {
    if (LOOPBACK.test(location.hostname)) this.offer();
    else this.copy(location.href, "The link to this view is copied.");
  }

  async copy(text, notice) {
    try {
      await navigator.clipboard.writeText(text);
      this.toast.say(notice);
    } catch {
      window.prompt("Copy this:", text);
    }
  }

  async offer() {
    const ways = h("div.share-ways");
    const dialog = h("dialog.bs-help.share", { "aria-label": "Share" }, h("header", {}, h("h2", {}, "Share"),
      h("button.bs-close", { type: "button", "aria-label": "Close", onclick: () => dialog.close() }, "\u00d7")),
    h("p", {}, "This address works on this machine only. To show this view to others:"), ways);
    dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
    dialog.addEventListener("close", () => dialog.remove());
    document.body.append(dialog);
    const path = `${location.pathname}${location.search}`;
    fill(ways, this.file(dialog), this.link(dialog));
    dialog.showModal();
    const { line, address, code } = await fetch(`/share?path=${encodeURIComponent(path)}`).then((answer) => answer.json(), () => ({}));
    fill(ways, this.file(dialog), address ? this.network(line, address, code) : null, this.link(dialog));
  }

  file(dialog) {
    return h("section", {}, h("h3", {}, "A file"), h("p", {}, "A lesson plays this program in any browser, without Backstep and without a network."),
      h("button.btn.primary", { type: "button", onclick: () => { dialog.close(); this.lesson(); } }, "Save as a lesson"));
  }

  /** For people in the same network: the line to type first, unless it is served there already, then the address, also to be photographed. */
  network(line, address, code) {
    const picture = code && h("img", { src: code, alt: `QR code of ${address}` });
    return h("section", {}, h("h3", {}, "The network"), line
      ? [h("p", {}, "Run this in a terminal. Everyone on the network can then open the address, or scan it:"),
        h("p.row", {}, h("code", {}, line), h("button.btn", { type: "button", onclick: () => this.copy(line, "The line is copied.") }, "Copy the line"))]
      : h("p", {}, "Everyone on the network can open this address, or scan it:"),
      h("p.share-address", {}, address), picture);
  }

  link(dialog) {
    return h("section", {}, h("h3", {}, "This machine"), h("button.btn", { type: "button", onclick: () => { dialog.close(); this.copy(location.href, "The link to this view is copied."); } }, "Copy the link"));
  }
}
