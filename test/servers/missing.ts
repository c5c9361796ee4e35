/** Suites that need a server: skipped with a line that says why, unless CI promises that everything is there. */
import { describe, it } from "vitest";
import type { Missing } from "./server.ts";

export function isMissing<T extends object>(server: T | Missing): server is Missing {
  return "missing" in server;
}

/** Runs the suite, or says in its place what is missing; with CI=true that is a failure. */
export function withServer<T extends object>(name: string, server: T | Missing, suite: (server: T) => void): void {
  if (!isMissing(server)) {
    suite(server);
    return;
  }
  const reason = `${name}: ${server.missing}`;
  if (process.env.CI === "true") {
    it(`needs ${reason}`, () => {
      throw new Error(`${reason}; with CI=true nothing may be skipped`);
    });
    return;
  }
  console.warn(`skipped, ${reason}`);
  describe.skip(`skipped, ${reason}`, () => {
    it("is not run", () => {});
  });
}
