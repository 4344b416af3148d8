// How often the server was asked: a test and a benchmark hold that playing never asks it.

let calls = 0;

/** Counts requests to Dash's callback endpoint; called once, before anything else runs. */
export function countServerCalls() {
  const counted = (address) => {
    if (String(address?.url ?? address).includes("_dash-update-component")) calls += 1;
  };
  const { fetch } = window;
  window.fetch = function (address, ...rest) {
    counted(address);
    return fetch.call(this, address, ...rest);
  };
  const { open } = XMLHttpRequest.prototype;
  XMLHttpRequest.prototype.open = function (method, address, ...rest) {
    counted(address);
    return open.call(this, method, address, ...rest);
  };
}

export function serverCalls() {
  return calls;
}
