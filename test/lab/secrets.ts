/** Where a service that has ended has left a secret: what it wrote while it ran, its stores, its spool, its results. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { escapeXml } from "../../engine/protocols/openconnect/xml.ts";
import type { RunningService } from "../service.ts";

/**
 * @param secrets by what they are
 * @param answers of its API, as they came
 * @returns "which where", for each that is found, plain or as text formats write it
 */
export function leaksOf(
  service: Pick<RunningService, "output" | "dataDir">,
  secrets: Readonly<Record<string, string>>,
  answers: readonly unknown[],
): readonly string[] {
  const places: (readonly [string, Buffer])[] = [
    ["output", Buffer.from(service.output())],
    ["answers", Buffer.from(JSON.stringify(answers))],
    ...readdirSync(service.dataDir, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => [entry.name, readFileSync(join(entry.parentPath, entry.name))] as const),
  ];
  return Object.entries(secrets).flatMap(([name, secret]) =>
    places
      .filter(([, content]) => formsOf(secret).some((form) => content.includes(form)))
      .map(([place]) => `${name} in ${place}`),
  );
}

function formsOf(secret: string): readonly string[] {
  if (secret.length < 8) throw new Error("a secret this short is found anywhere");
  const bytes = Buffer.from(secret);
  const coded = [bytes.toString("base64").replace(/=+$/, ""), bytes.toString("hex"), encodeURIComponent(secret)];
  return [secret, escapeXml(secret), JSON.stringify(secret).slice(1, -1), ...coded];
}
