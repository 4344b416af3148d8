// The jobs that the server computes in the background for this page. When the page is closed, nobody polls any more; the server is then told, and
// ends the jobs that nobody else waits for.

const OUTPUTS = /"output":"(made-\w+\.data)"/;
const LEFT = { output: "gone.id", outputs: { id: "gone", property: "id" }, inputs: [{ id: "gone", property: "data", value: -1 }], changedPropIds: ["gone.data"], state: [] };

export class Jobs {
  constructor() {
    /** @type {Map<string, { job: string, ending: string }>} by output its job, and the address that ends it, with what the server signed */
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
    if (status.job) this.running.set(output, { job: status.job, ending: cancelling(address, status.job) });
    else if (status.response && isOf(address, this.running.get(output)?.job)) this.running.delete(output);
  }

  leave() {
    const body = JSON.stringify(LEFT);
    for (const { ending } of this.running.values()) navigator.sendBeacon(ending, new Blob([body], { type: "application/json" }));
    this.running.clear();
  }
}

/**
 * Whether a question is not about another job: one that has been ended may be answered after the next has begun.
 * @param {string} address
 * @param {string | undefined} job
 */
function isOf(address, job) {
  const subject = new URL(address, location.href).searchParams.get("job");
  return subject === null || subject === job;
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
