/** A whole run of `sonde bulk`: list, probers, progress, results, and how it ends. */

import { setImmediate as breathe } from "node:timers/promises";
import { hasDumbTerminal } from "../../config.ts";
import type { Direct, DirectState, EngineOptions } from "../../engine/direct/direct.ts";
import { parseVerifyUrl } from "../../engine/direct/links.ts";
import { openProbers } from "../check/open.ts";
import { protocolNamed } from "../check/target.ts";
import { CommandError, INTERRUPTED, READER_GONE, usageError } from "../command.ts";
import { formerResults, type Journal, openJournal, type RunTerms, readJournal, writeJournal } from "./journal.ts";
import type { BulkList } from "./list.ts";
import type { BulkOptions, Requirement } from "./options.ts";
import { type Output, openOutput } from "./output.ts";
import { openScreen, progressLines } from "./progress.ts";
import { summary } from "./report.ts";
import { runAll } from "./run.ts";
import { readListFrom } from "./source.ts";
import { AT_ONCE, downloadUrlOf, measureSpeeds, STANDARD_MOST, toMeasure, withProof } from "./speed.ts";
import { type BulkResult, Tally } from "./tally.ts";
import { type Writer, writerOf } from "./writer.ts";

/** Prober threads that are of use: share links are mostly the cores' work. */
const MOST_WORKERS = 4;
/** Before the probers are there. */
const AT_REST: DirectState = { running: 0, waiting: 0, undecided: 0, secondLooks: 0, isCut: false };
/** One Ctrl-C under npx arrives twice, from the terminal and from npm: what follows within this is the same one, ms. */
const SAME_SIGNAL_MS = 150;

type StopReason = "signal" | "gone" | "fatal";

/** What ends a run before its time: asked for once, by a signal, a reader that went away, or probers that cannot go on. */
interface Stop {
  readonly reason: StopReason | null;
  ask(reason: StopReason): void;
  /** What asking does; before there is anything to end cleanly, the process ends. */
  onAsked: ((reason: StopReason) => void) | null;
  forget(): void;
}

/** @returns the exit code */
export async function bulk(word: string, options: BulkOptions): Promise<number> {
  const engineOptions = engineOptionsFor(options);
  const stop = listenForStop();
  const list = ofProtocols(await readListFrom(word, breathe), options.protocol);
  if (list.items.length === 0) {
    process.stderr.write(summary(list, new Tally(0), { durationMs: 0, isInterrupted: false }));
    throw new CommandError("the list has no configuration to check");
  }
  const terms: RunTerms = { timeoutS: options.timeout, engine: options.engine ?? null };
  const former = options.resume === undefined ? [] : formerResults(list.items, readJournal(options.resume, terms));
  const journal = options.resume === undefined ? null : openJournal(options.resume, terms);
  const output = openOutput(process.stdout.fd, outputEnds(stop));
  const tally = new Tally(list.items.length);
  const writer = writerOf(options, output, list);
  writer.begin?.();
  for (const result of former) {
    tally.add(result, true);
    writer.result?.(result);
  }
  let durationMs = 0;
  try {
    durationMs = await run(options, { list, former, tally, journal, output, writer, stop, engineOptions });
    if (options.speed !== undefined) await measure(options, options.speed, { tally, writer, stop, engineOptions });
  } finally {
    journal?.close();
  }
  const isInterrupted = (stop.reason === "signal" || stop.reason === "fatal") && tally.checked < tally.total;
  writer.end(tally, { durationMs, isInterrupted });
  if (isInterrupted) tellHowToGoOn(journal?.path ?? writeJournal(tally.results, terms));
  await output.close();
  stop.forget();
  if (stop.reason === "gone") return READER_GONE;
  if (stop.reason === "fatal") return 1;
  if (isInterrupted) return INTERRUPTED;
  return isEnough(tally, options.require) ? 0 : 1;
}

interface Run {
  readonly list: BulkList;
  readonly former: readonly BulkResult[];
  readonly tally: Tally;
  readonly journal: Journal | null;
  readonly output: Output;
  readonly writer: Writer;
  readonly stop: Stop;
  /** Of the engine, beside the settings. */
  readonly engineOptions: Partial<EngineOptions>;
}

/** @returns how long it took from the first check on, ms */
async function run(
  options: BulkOptions,
  { list, former, tally, journal, output, writer, stop, engineOptions }: Run,
): Promise<number> {
  const done = new Set(former.map(({ item }) => item.id));
  const items = done.size === 0 ? list.items : list.items.filter(({ id }) => !done.has(id));
  if (items.length === 0) return 0;
  let probers: Direct | undefined;
  const moment = () => ({ ...(probers?.state() ?? AT_REST), isStopping: stop.reason !== null });
  const screen = hasProgress(writer)
    ? openScreen(process.stderr, (columns) => progressLines(tally, moment(), tally.rate(performance.now()), columns))
    : null;
  try {
    probers = await openProbers(options.concurrency, MOST_WORKERS, fatalTo(stop), engineOptions);
    stop.onAsked = () => void probers?.close();
    const startedAtMs = performance.now();
    await runAll({
      items,
      probers,
      timeoutMs: options.timeout * 1_000,
      engine: options.engine ?? null,
      ready: () => output.ready(),
      isStopped: () => stop.reason !== null,
      onResult(result) {
        tally.add(result);
        journal?.add(result);
        writer.result?.(result);
      },
    });
    return performance.now() - startedAtMs;
  } finally {
    await probers?.close();
    screen?.close();
  }
}

/** What is asked through proxies: the command's options win over the settings. @throws CommandError that names the option that cannot be used */
function engineOptionsFor({ url, speed }: BulkOptions): Partial<EngineOptions> {
  const country = { isExitCountryWanted: true };
  if (speed !== undefined) requireVerifyUrl("--speed", downloadUrlOf(speed));
  return url === undefined
    ? country
    : { ...country, verifyUrls: url.map((one) => requireVerifyUrl("--url", withProof(one))) };
}

function requireVerifyUrl(option: string, url: string): string {
  try {
    parseVerifyUrl(url);
    return url;
  } catch {
    const typed = url.replace(/#ok$/, "");
    throw usageError(
      `${option} ${typed}: this must be an https address, or end with what is expected (#204, #trace, #ip, #token)`,
    );
  }
}

function outputEnds(stop: Stop): (error: NodeJS.ErrnoException) => void {
  return ({ code, message }) => {
    if (code !== "EPIPE") process.stderr.write(`sonde: the output cannot be written (${code ?? message})\n`);
    stop.ask(code === "EPIPE" ? "gone" : "fatal");
  };
}

function fatalTo(stop: Stop): (error: Error) => void {
  return (error) => {
    process.stderr.write(`sonde: ${error.message}\n`);
    stop.ask("fatal");
  };
}

async function measure(
  options: BulkOptions,
  speed: string | true,
  { tally, writer, stop, engineOptions }: Pick<Run, "tally" | "writer" | "stop" | "engineOptions">,
): Promise<void> {
  const most = options.top === undefined ? STANDARD_MOST : options.top;
  const chosen = toMeasure(tally.results, most);
  if (process.stderr.isTTY) process.stderr.write(`measuring ${chosen.length} downloads …\n`);
  await measureSpeeds({
    chosen,
    open: (download) => openProbers(AT_ONCE, 1, fatalTo(stop), { ...engineOptions, ...download }),
    downloadUrl: downloadUrlOf(speed),
    timeoutMs: options.timeout * 1_000,
    engine: options.engine ?? null,
    isStopped: () => stop.reason !== null,
    onOpened: (probers) => {
      stop.onAsked = () => void probers.close();
    },
    onMeasured(measured) {
      tally.speeds.set(measured.result.item.id, measured.mbitPerS);
      writer.speed?.(measured);
    },
  });
}

/** Results that come as they are made show themselves that it goes on. */
function hasProgress({ isStreaming }: Writer): boolean {
  return process.stderr.isTTY && !hasDumbTerminal() && !(isStreaming && process.stdout.isTTY);
}

function ofProtocols(list: BulkList, words: string | undefined): BulkList {
  if (words === undefined) return list;
  const kinds = new Set(words.split(",").map((word) => protocolNamed(word.trim())));
  return { ...list, items: list.items.filter(({ kind }) => [...kinds].some((wanted) => wanted === kind)) };
}

function isEnough({ healthy, total }: Tally, { least, isShare }: Requirement): boolean {
  return isShare ? healthy * 100 >= least * total : healthy >= least;
}

function tellHowToGoOn(path: string): void {
  process.stderr.write(`The results so far are in ${path}\nTo go on, give the same command with --resume ${path}\n`);
}

function listenForStop(): Stop {
  let reason: StopReason | null = null;
  let askedAtMs = 0;
  const onSignal = (): void => {
    if (stop.onAsked === null || (reason !== null && performance.now() - askedAtMs > SAME_SIGNAL_MS)) {
      process.exit(INTERRUPTED);
    }
    stop.ask("signal");
  };
  const stop: Stop = {
    onAsked: null,
    get reason() {
      return reason;
    },
    ask(why) {
      if (reason !== null) return;
      reason = why;
      askedAtMs = performance.now();
      stop.onAsked?.(why);
    },
    forget: () => void process.off("SIGINT", onSignal).off("SIGTERM", onSignal),
  };
  process.on("SIGINT", onSignal).on("SIGTERM", onSignal);
  return stop;
}
