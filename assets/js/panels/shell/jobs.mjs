// What the server computes in the background for this page. When the page is closed, nobody polls any more; the server is told, and
// ends what nobody else waits for.

const OUTPUTS = /"output":"(made-\w+\.data)"/;
const LEFT = { output: "gone.id", outputs: { id: "gone", property: "id" }, inputs: [{ id: "gone", property: "data", value: -1 }], changedPropIds: ["gone.data"], state: [] };

export class Jobs {
  constructor() {
    /** @type {Map<string, string>} by output the address that ends its job, with what the server signed */
    this.running = new Map();
    window.addEventListener("pagehide", (event) => event.persisted || this.leave()); // a page that is kept may come back to its job
  }

  /**
   * Learns from an answer whether a job has begun or ended.
   * @param {string} address of the request
   * @param {any} body
   * @param {Response} answer
   */
  async follow(address, body, answer) {
    const output = OUTPUTS.exec(String(body))?.[1];
    if (!output || !answer.ok) return;
    const status = await answer.clone().json().catch(() => ({}));
    if (status.job) this.running.set(output, cancelling(address, status.job));
    else if (status.response) this.running.delete(output);
  }

  leave() {
    const body = JSON.stringify(LEFT);
    for (const address of this.running.values()) navigator.sendBeacon(address, new Blob([body], { type: "application/json" }));
    this.running.clear();
  }
}

/**
 * Where Dash ends a job of this page, which it knows by its `endId`.
 * @param {string} address that began the job
 * @param {string} job
 */
function cancelling(address, job) {
  const { pathname, searchParams } = new URL(address, location.href);
  const query = new URLSearchParams({ cancelJob: job });
  const page = searchParams.get("endId");
  if (page !== null) query.set("endId", page);
  return `${pathname}?${query}`;
}
