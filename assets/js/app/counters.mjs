// How often the server was asked: a test and a benchmark hold that playing never asks it.

/**
 * Counts requests to Dash's callback endpoint from now on; called once, before anything else runs.
 * @returns {() => number} how many there were
 */
export function countServerCalls() {
  let calls = 0;
  const counted = (address) => {
    if (String(address?.url ?? address).includes("_dash-update-component")) calls += 1;
  };
  const { fetch } = window;
  window.fetch = function (address, ...rest) {
    counted(address);
    return fetch.call(this, address, ...rest);
  };
  const { open } = XMLHttpRequest.prototype;
  XMLHttpRequest.prototype.open = function (...args) {
    counted(args[1]);
    return open.apply(this, /** @type {Parameters<typeof open>} */ (args));
  };
  return () => calls;
}
