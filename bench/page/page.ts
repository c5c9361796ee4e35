/** `npm run bench -- page`: the page in Debian's Chromium against a real service with many monitors, as a person at it sees them. */
import { readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { type Browser, type CDPSession, chromium, type Page } from "playwright-core";
import { conditions } from "../parts/conditions.ts";
import { percentile } from "../statistics.ts";
import { type ServiceUnderTest, startServiceUnderTest } from "../uptime/service.ts";
import { PAGE_SCRIPT } from "./page-script.ts";

export interface PageBenchOptions {
  readonly monitors: number;
  /** Changes in one batch of the live stream. */
  readonly changes: number;
  readonly rounds: number;
  /** Its program. */
  readonly chromium: string;
}

/** Of one document that is applied: 4 MiB hold more. */
const APPLIED_AT_ONCE = 5_000;
const TAGS = ["prod", "edge", "lab", "backup", "provider-a", "provider-b", "berlin", "tokyo"] as const;
/** What a person writes into the filter. */
const TYPED = "tag:prod berlin 12";
/** A batch comes each second; the next is sent when the frame of the one before is drawn, and a little later. */
const BETWEEN_BATCHES_MS = 300;
const MOST_WAIT_MS = 60_000;
const MEBIBYTE = 2 ** 20;

interface Goal {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  /** null: it is told beside another. */
  readonly most: number | null;
}

export async function runPage(options: PageBenchOptions): Promise<void> {
  const { monitors, rounds } = options;
  const service = await startServiceUnderTest("127.0.0.1/32");
  const browser = await chromium.launch({
    executablePath: options.chromium,
    chromiumSandbox: process.getuid?.() !== 0,
    args: ["--disable-dev-shm-usage", "--hide-scrollbars"],
  });
  console.log(
    `page\n  ${conditions()}; Chromium ${browser.version()}, headless, 1280 x 800; service and browser share the cores, on loopback\n` +
      `  ${monitors} paused monitors; ${rounds} rounds; figures are medians, in brackets the worst`,
  );
  try {
    await createMonitors(service, monitors);
    const overview = await overviewCost(service, rounds);
    const goals = [...overview, ...(await pageCost(browser, service, options))];
    for (const { name, value, unit, most } of goals) {
      const verdict = most === null ? "" : `${value <= most ? "within" : "OVER"} ${most} ${unit}`;
      console.log(`  ${name.padEnd(62)} ${value.toFixed(1).padStart(8)} ${unit.padEnd(3)} ${verdict}`);
    }
  } finally {
    await browser.close();
    await service.stop();
  }
}

async function createMonitors({ client }: ServiceUnderTest, count: number): Promise<void> {
  for (let from = 0; from < count; from += APPLIED_AT_ONCE) {
    const numbers = Array.from({ length: Math.min(APPLIED_AT_ONCE, count - from) }, (_, index) => from + index);
    const named = numbers.map((n) => {
      const tags = [TAGS[n % TAGS.length], TAGS[(n * 7 + 3) % TAGS.length]];
      const place = `${TAGS[n % 5]} ${n}`;
      return [
        `m${n}`,
        { type: "port", name: place, host: "127.0.0.1", port: 9, active: false, tags: [...new Set(tags)] },
      ];
    });
    const document = JSON.stringify({ sonde: 1, monitors: Object.fromEntries(named) });
    const body = { document, name: `bench-${from}` };
    const { hash } = await client.post<{ hash: string }>("/apply", { ...body, dry_run: true }, MOST_WAIT_MS);
    await client.post("/apply", { ...body, expect: hash }, MOST_WAIT_MS);
  }
}

/** Answers that are a second old are made anew: then the request takes what making takes, and afterwards what sending takes. */
async function overviewCost({ client, key, pid }: ServiceUnderTest, rounds: number): Promise<readonly Goal[]> {
  const [made, kept]: [Cost[], Cost[]] = [[], []];
  const headers = { "x-api-key": key, "x-project-id": "prj_1", "accept-encoding": "identity" };
  const ask = async (): Promise<Cost> => {
    const [startedAtMs, threadBeforeMs] = [performance.now(), threadMs(pid)];
    const answer = await fetch(`${client.url}/api/v1/overview`, { headers });
    await answer.arrayBuffer();
    if (!answer.ok) throw new Error(`/overview answered with ${answer.status}`);
    return { requestMs: performance.now() - startedAtMs, threadMs: threadMs(pid) - threadBeforeMs };
  };
  for (let round = 0; round < rounds; round++) {
    await pause(1_100);
    made.push(await ask());
    kept.push(await ask());
  }
  const goalsOf = (name: string, costs: readonly Cost[]): readonly Goal[] => [
    figure(
      `${name}, the API's thread`,
      costs.map((cost) => cost.threadMs),
      "ms",
      40,
    ),
    figure(
      `${name}, whole request`,
      costs.map((cost) => cost.requestMs),
      "ms",
      null,
    ),
  ];
  return [...goalsOf("/overview made anew", made), ...goalsOf("/overview within its second", kept)];
}

interface Cost {
  readonly requestMs: number;
  readonly threadMs: number;
}

/** How long the process's first thread, which is the API's, has been on a processor (Documentation/scheduler/sched-stats.rst of Linux). */
function threadMs(pid: number): number {
  const [ns = ""] = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, "utf8").split(" ");
  return Number(ns) / 1e6;
}

function figure(name: string, values: readonly number[], unit: string, most: number | null): Goal {
  return { name: `${name} (${Math.max(...values).toFixed(0)})`, value: percentile([...values], 0.5), unit, most };
}

async function pageCost(
  browser: Browser,
  { client, key }: ServiceUnderTest,
  options: PageBenchOptions,
): Promise<readonly Goal[]> {
  const { changes, rounds } = options;
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, locale: "en-GB" });
  const page = await context.newPage();
  await page.addInitScript(PAGE_SCRIPT);
  await page.goto(`${client.url}/`);
  await page.getByRole("textbox", { name: "Key" }).fill(key);
  await page.getByRole("button", { name: "Sign in" }).click();
  // A navigation before the answer would leave the page signed out.
  await page.evaluate("bench.drawn()");
  const drawn: number[] = [];
  for (let round = 0; round < rounds; round++) {
    await page.goto(`${client.url}/?round=${round}#/`);
    drawn.push(await page.evaluate<number>("bench.drawn()"));
  }
  const session = await context.newCDPSession(page);
  // Of the processor, not of the clock: the machine does more.
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  const batches = await batchCost(page, session, options);
  await page.evaluate("location.hash = '/monitors'");
  await page.getByRole("table", { name: "Monitors" }).waitFor();
  const tableBatches = await batchCost(page, session, options);
  const keystrokes = await keystrokeCost(page);
  const empty = await scrollCost(page, session, "empty");
  const plain = await scrollCost(page, session, "plain");
  const rows = await scrollCost(page, session, "table");
  await session.send("HeapProfiler.collectGarbage");
  const { usedSize } = await session.send("Runtime.getHeapUsage");
  await context.close();
  return [
    figure("overview drawn after the navigation", drawn, "ms", 1_000),
    ...batchFigures(`a batch of ${changes}, overview`, batches),
    ...batchFigures(`a batch of ${changes}, table`, tableBatches),
    figure("keystroke in the filter to its paint", keystrokes, "ms", 50),
    figure("page's thread for a turn of the wheel over the table", rows.thread, "ms", 16),
    figure("page's thread for a turn of the wheel over plain rows", plain.thread, "ms", null),
    { name: `late frames of ${empty.frames}, an empty place as high`, value: empty.late, unit: "", most: null },
    {
      name: `late frames of ${plain.frames}, plain rows that no script touches`,
      value: plain.late,
      unit: "",
      most: null,
    },
    {
      name: `late frames of ${rows.frames}, the table`,
      value: rows.late,
      unit: "",
      most: Math.max(empty.late, plain.late),
    },
    { name: "heap after all of it, garbage collected", value: usedSize / MEBIBYTE, unit: "MB", most: 80 },
  ];
}

/** Of a batch as the stream brings it, ms: all of the page's thread, and what of it is not the browser's own drawing. */
interface BatchCosts {
  readonly thread: readonly number[];
  readonly script: readonly number[];
}

function batchFigures(what: string, { thread, script }: BatchCosts) {
  return [
    figure(`page's script for ${what}`, script, "ms", 16),
    figure(`page's thread for ${what}`, thread, "ms", null),
  ];
}

async function batchCost(
  page: Page,
  session: CDPSession,
  { monitors, changes, rounds }: PageBenchOptions,
): Promise<BatchCosts> {
  const [thread, script]: [number[], number[]] = [[], []];
  for (let round = 0; round < rounds; round++) {
    const before = await pageMs(session);
    await page.evaluate(`bench.batch(${monitors}, ${changes}, ${round})`);
    await page.waitForTimeout(BETWEEN_BATCHES_MS);
    const after = await pageMs(session);
    thread.push(after.all - before.all);
    script.push(after.all - after.drawing - (before.all - before.drawing));
  }
  return { thread, script };
}

async function keystrokeCost(page: Page): Promise<readonly number[]> {
  const filter = page.getByRole("searchbox", { name: "Filter" });
  await filter.click();
  await page.evaluate("bench.watchKeys()");
  for (const sign of TYPED) {
    await page.keyboard.press(sign === " " ? "Space" : sign);
    await page.evaluate("bench.frame()");
  }
  await page.waitForFunction("bench.keys.length >= 3", undefined, { timeout: MOST_WAIT_MS });
  const keys = await page.evaluate<number[]>("bench.keys");
  await filter.fill("");
  await page.evaluate("bench.frame()");
  return keys;
}

/**
 * What the page's thread has been at, ms: all of it, and the browser's own part, styles and layout. The browser counts microtasks, in which the page
 * makes its elements, not as script, so script is what is left.
 */
async function pageMs(session: CDPSession): Promise<{ readonly all: number; readonly drawing: number }> {
  const { metrics } = await session.send("Performance.getMetrics");
  const of = (wanted: string): number => (metrics.find(({ name }) => name === wanted)?.value ?? 0) * 1_000;
  return { all: of("TaskDuration"), drawing: of("LayoutDuration") + of("RecalcStyleDuration") };
}

interface Scrolled {
  readonly late: number;
  readonly frames: number;
  /** Processor time of the page's thread for one turn of the wheel, ms. */
  readonly thread: readonly number[];
}

/** @param what empty and plain: what a browser without a graphics card drops by itself, on a machine that does more */
async function scrollCost(page: Page, session: CDPSession, what: "empty" | "plain" | "table"): Promise<Scrolled> {
  await page.evaluate(`bench.toTop("${what}")`);
  await page.mouse.move(640, 500);
  await page.evaluate("bench.watchFrames()");
  const thread: number[] = [];
  for (let turn = 0; turn < 60; turn++) {
    const before = (await pageMs(session)).all;
    await page.mouse.wheel(0, 400);
    await page.evaluate("bench.frame()");
    thread.push((await pageMs(session)).all - before);
  }
  return { ...(await page.evaluate<{ late: number; frames: number }>("bench.frames()")), thread };
}
