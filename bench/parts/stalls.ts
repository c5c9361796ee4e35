/** How long work keeps the thread that it shares with others. */
import { readFileSync } from "node:fs";

/** Its main thread has the process's number. */
const OF_THREAD = `/proc/self/task/${process.pid}/schedstat`;

/** Of the main thread alone, on which the sender works: the first figure of the file is in nanoseconds (proc(5)). */
function threadMs(): number {
  return Number(readFileSync(OF_THREAD, "latin1").split(" ", 1)[0]) / 1e6;
}

/** The longest time in which nothing else ran on this thread; on a machine that does other work, its processor time says more. */
export class Stalls {
  longestMs = 0;
  longestOfProcessorMs = 0;
  #lastMs = 0;
  #lastOfProcessorMs = 0;
  #isOver = false;

  async watch(work: () => Promise<void>): Promise<void> {
    this.#isOver = false;
    this.#begin();
    const look = (): void => {
      this.#look();
      if (!this.#isOver) setImmediate(look);
    };
    setImmediate(look);
    await work();
    this.#look();
    this.#isOver = true;
  }

  #begin(): void {
    this.#lastMs = performance.now();
    this.#lastOfProcessorMs = threadMs();
  }

  #look(): void {
    this.longestMs = Math.max(this.longestMs, performance.now() - this.#lastMs);
    this.longestOfProcessorMs = Math.max(this.longestOfProcessorMs, threadMs() - this.#lastOfProcessorMs);
    this.#begin();
  }
}
