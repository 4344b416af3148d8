// Events between the player and the panels. `emit` returns whether a listener claimed the event by returning true.

export class Bus {
  constructor() {
    this.listeners = new Map();
  }

  on(event, listener) {
    if (!this.listeners.has(event)) this.listeners.set(event, new Set());
    this.listeners.get(event).add(listener);
    return () => this.listeners.get(event).delete(listener);
  }

  emit(event, ...payload) {
    let claimed = false;
    for (const listener of [...(this.listeners.get(event) ?? [])]) {
      try {
        claimed = listener(...payload) === true || claimed;
      } catch (error) {
        console.error(`a listener of "${event}" failed`, error); // one panel's mistake must not stop the player
      }
    }
    return claimed;
  }
}
