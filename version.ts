/** The release, from package.json: one place, also beside dist/. */
import { readFileSync } from "node:fs";

function readVersion(): string {
  for (const place of ["./package.json", "../package.json"]) {
    try {
      const parsed: unknown = JSON.parse(readFileSync(new URL(place, import.meta.url), "utf8"));
      if (typeof parsed === "object" && parsed !== null && "version" in parsed) return String(parsed.version);
    } catch {
      // Built files lie one folder deeper than the sources.
    }
  }
  return "unknown";
}

export const VERSION: string = readVersion();
