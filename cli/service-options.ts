/** Options that every command of a running service's client has. */
import type { Command } from "commander";
import { loadClientConfig } from "../config.ts";
import { type Client, connect } from "./client.ts";
import { plain } from "./table.ts";

export interface ServiceOptions {
  readonly url?: string;
  readonly key?: string;
  readonly project?: string;
  readonly json?: boolean;
}

export function addServiceOptions(command: Command): Command {
  return command
    .option("--url <url>", "where the service listens (SONDE_URL)")
    .option("--key <key>", "API key (SONDE_KEY; otherwise owner.key of the data folder)")
    .option("--project <id>", "project, such as prj_1 (SONDE_PROJECT; otherwise prj_1)")
    .option("--json", "print the API's own JSON");
}

/** The first project of a fresh service, when none is named. */
export const FIRST_PROJECT = "prj_1";

export function connectTo(options: ServiceOptions): Client {
  const config = loadClientConfig(options);
  return connect({ ...config, project: config.project ?? FIRST_PROJECT });
}

export function printJson(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value, null, 2)}\n`);
}

/** What the service took, but not all of it: said where it spoils no output for programs. */
export function tellWarnings(answer: object): void {
  for (const warning of warningsOf(answer)) process.stderr.write(`sonde: ${plain(warning)}\n`);
}

/** What of a request the service ignored, in its own words. */
export function warningsOf(answer: object): readonly string[] {
  return "warnings" in answer && Array.isArray(answer.warnings) ? answer.warnings.map(String) : [];
}
