/** What one screen gives the next to begin with, such as links that work to the screen that adds monitors. Taken once. */
let waiting = "";

export function handOver(text: string): void {
  waiting = text;
}

export function takeOver(): string {
  const text = waiting;
  waiting = "";
  return text;
}
