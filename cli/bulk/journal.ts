/**
 * Results on disk while they come, so that a run that was stopped goes on where it was: a line of JSON for the run, then one for each
 * config by its id. No secret is in it: the list itself is read again.
 */
import { closeSync, ftruncateSync, mkdtempSync, openSync, readFileSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { CheckView } from "../check/outcome.ts";
import { CommandError, usageError } from "../command.ts";
import type { BulkItem } from "./list.ts";
import type { BulkResult } from "./tally.ts";

const FORMAT = 1;
/** Results written at once; what a SIGKILL can cost, with WRITE_EVERY_MS. */
const MOST_UNWRITTEN = 500;
const WRITE_EVERY_MS = 1_000;

/** What must be the same for results to stand side by side. */
export interface RunTerms {
  readonly timeoutS: number;
  readonly engine: string | null;
}

export interface Journal {
  readonly path: string;
  add(result: BulkResult): void;
  /** Writes what is not written yet. */
  close(): void;
}

/** @returns results by id; empty when there is no such file yet. @throws CommandError when it is something else */
export function readJournal(path: string, terms: RunTerms): ReadonlyMap<string, CheckView> {
  const text = readText(path);
  const results = new Map<string, CheckView>();
  if (text === "") return results;
  const lines = text.split("\n");
  // What was being written when the machine stopped.
  lines.pop();
  const [head, ...rest] = lines.map(parsed);
  if (head?.sonde_bulk !== FORMAT)
    throw usageError(`${path} is no file of a former run: give one that does not exist yet`);
  if (head.timeout_s !== terms.timeoutS || head.engine !== terms.engine) {
    const engine = head.engine === null ? "without --engine" : `with --engine ${String(head.engine)}`;
    throw usageError(
      `${path} is of a run with --timeout ${String(head.timeout_s)} ${engine}: give the same options, or another file`,
    );
  }
  for (const [index, line] of rest.entries()) {
    if (typeof line?.id !== "string" || typeof line.verdict !== "string") {
      throw usageError(`line ${index + 2} of ${path} is no result`);
    }
    const { id, ...view } = line as unknown as { readonly id: string } & CheckView;
    // What was a fault of ours is measured now.
    if (view.status !== "unknown") results.set(id, view);
  }
  return results;
}

export function openJournal(path: string, terms: RunTerms): Journal {
  const before = readText(path);
  const whole = before.slice(0, before.lastIndexOf("\n") + 1);
  const file = openForAppending(path);
  if (whole.length < before.length) ftruncateSync(file, Buffer.byteLength(whole));
  let unwritten: string[] =
    whole === "" ? [line({ sonde_bulk: FORMAT, timeout_s: terms.timeoutS, engine: terms.engine })] : [];
  let isFull = false;
  const write = (): void => {
    const bytes = Buffer.from(unwritten.join(""));
    unwritten = [];
    try {
      // A full disk takes a part first: the rest must say that it is full.
      for (let at = 0; at < bytes.length && !isFull; ) at += writeSync(file, bytes, at);
    } catch (error) {
      isFull = true;
      const { code } = error as NodeJS.ErrnoException;
      process.stderr.write(`sonde: cannot write ${path} (${code}): further results are not kept in it\n`);
    }
  };
  write();
  const timer = setInterval(write, WRITE_EVERY_MS);
  return {
    path,
    add({ item, view }) {
      unwritten.push(line({ id: item.id, ...view }));
      if (unwritten.length >= MOST_UNWRITTEN) write();
    },
    close() {
      clearInterval(timer);
      write();
      closeSync(file);
    },
  };
}

/** For a run that was stopped and had none. @returns its path */
export function writeJournal(results: readonly BulkResult[], terms: RunTerms): string {
  const journal = openJournal(join(mkdtempSync(join(tmpdir(), "sonde-bulk-")), "results.jsonl"), terms);
  for (const result of results) journal.add(result);
  journal.close();
  return journal.path;
}

/** Results of a former run for what is still in the list. */
export function formerResults(items: readonly BulkItem[], former: ReadonlyMap<string, CheckView>): BulkResult[] {
  return items.flatMap((item) => {
    const view = former.get(item.id);
    return view === undefined ? [] : [{ item, view }];
  });
}

function openForAppending(path: string): number {
  try {
    return openSync(path, "a", 0o600);
  } catch (error) {
    const { code = "unknown error" } = error as NodeJS.ErrnoException;
    throw usageError(
      `cannot write ${path} (${code}): name a file in a folder that is there, and in which you may write`,
    );
  }
}

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return "";
    throw new CommandError(`cannot read ${path} (${code ?? "unknown error"})`);
  }
}

function line(value: object): string {
  return `${JSON.stringify(value)}\n`;
}

function parsed(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>) : undefined;
  } catch {
    return undefined;
  }
}
