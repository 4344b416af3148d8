// Counts the requests to the server: a test and a benchmark check that playing makes none.

/** Whether somebody waits for the answer: what is fetched ahead has no number. */
const isQuestion = (address, body) => address.includes("_dash-update-component") || (address.endsWith("/scene") && String(body).includes('"request"'));

/**
 * Counts questions for scenes and requests to Dash's callback endpoint from now on; called once, before anything else runs.
 * @returns {() => number} how many there were
 */
export function countServerCalls() {
  let calls = 0;
  const countCall = (address, body) => {
    if (isQuestion(String(address?.url ?? address), body)) calls += 1;
  };
  const { fetch } = window;
  window.fetch = function (address, ...rest) {
    countCall(address, rest[0]?.body);
    return fetch.call(this, address, ...rest);
  };
  const { open } = XMLHttpRequest.prototype;
  XMLHttpRequest.prototype.open = function (...args) {
    countCall(args[1], null);
    return open.apply(this, /** @type {Parameters<typeof open>} */ (args));
  };
  return () => calls;
}
