/** Waits for what other code does by itself in the next rounds of the event loop, such as Node handing TLS's records on. */

/** @returns cancels it */
export function afterRounds(rounds: number, act: () => void): () => void {
  let left = rounds;
  const look = (): void => {
    if (left <= 0) return;
    left -= 1;
    if (left === 0) act();
    else setImmediate(look);
  };
  setImmediate(look);
  return () => {
    left = 0;
  };
}
