/**
 * Lets V8 forget the code that only a start runs. A start compiles thousands of functions in each thread and calls most of them once; V8 keeps what
 * it compiled for several full collections of garbage, and a service with little to do has hardly any after its start.
 */
import { setFlagsFromString } from "node:v8";

/** Full collections after which code that did not run since is forgotten; it is compiled again when it is called. V8's own are 5. */
const USUALLY = 5;
const WHILE_STARTING = 1;
/** How long a start with its first checks takes, ms. */
const SETTLED_AFTER_MS = 60_000;

/**
 * For all threads of the process, from now on and until the start is over: a busy thread collects once a second, and would compile again and again what it
 * runs every few seconds.
 */
export function forgetStartCode(): void {
  keepCodeFor(WHILE_STARTING);
  setFlagsFromString("--flush-baseline-code");
  setTimeout(() => {
    keepCodeFor(USUALLY);
    setFlagsFromString("--no-flush-baseline-code");
  }, SETTLED_AFTER_MS).unref();
}

function keepCodeFor(collections: number): void {
  setFlagsFromString(`--bytecode-old-age=${collections}`);
}
