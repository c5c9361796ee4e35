/** Suites that need a server: a server that cannot be brought up here is a missing prerequisite. */
import { insteadOf } from "../prerequisites.ts";
import type { Missing } from "./server.ts";

export function isMissing<T extends object>(server: T | Missing): server is Missing {
  return "missing" in server;
}

/** Runs the suite with the server, or says in its place what is missing; with CI=true that is a failure. */
export function withServer<T extends object>(name: string, server: T | Missing, suite: (server: T) => void): void {
  if (isMissing(server)) insteadOf(name, server.missing);
  else suite(server);
}
