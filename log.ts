/** Logs: one line of JSON per event, pretty on a terminal. Secrets never get here; the paths below are a second net. */

import { type Logger, pino } from "pino";

/** Loaded for people alone: it is many files. */
const pretty = process.stdout.isTTY ? (await import("pino-pretty")).default : null;

const REDACTED = [
  "key",
  "password",
  "token",
  "secret",
  "authorization",
  "*.key",
  "*.password",
  "*.token",
  "*.secret",
  "*.authorization",
];

export function createLog(level: string, part: string): Logger {
  const options = { level, base: { part }, redact: REDACTED };
  // Written from the thread itself: a transport thread of pino's own would not outlive a crash with the last lines.
  if (pretty !== null)
    return pino(options, pretty({ sync: true, ignore: "pid,hostname", translateTime: "SYS:HH:MM:ss.l" }));
  return pino(options, pino.destination({ fd: 1, sync: true }));
}
