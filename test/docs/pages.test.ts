/**
 * Every command of the documents is run as it stands there, in the order of its page. What cannot be run here says why in a comment before
 * it; that its words, settings, paths and bodies are right is checked of all.
 */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import { insteadOf, missing, type Prerequisite } from "../prerequisites.ts";
import { isMissing } from "../servers/missing.ts";
import { type SharedServers, startShared } from "../servers/shared.ts";
import { cleanUp } from "../service.ts";
import { closeTerminals } from "../terminal.ts";
import { commandFaults, helpExamples, helpTexts, nameFaults, spanFaults, spansOf } from "./forms.ts";
import { type Block, blocksOf, isShell, type Need, stepsOf } from "./page.ts";
import { Slots } from "./slots.ts";
import { openWorld, type World } from "./world.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
/** With the wait for a place; a command that hangs ends much earlier, by itself. */
const PAGE_WITHIN_MS = 600_000;

const listed = (...patterns: readonly string[]): readonly string[] =>
  execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard", ...patterns], {
    cwd: ROOT,
    encoding: "utf8",
    maxBuffer: 1 << 26,
  })
    .trimEnd()
    .split("\n");
const text = (path: string): string => readFileSync(`${ROOT}/${path}`, "utf8");

const PAGES = listed("README.md", "CONTRIBUTING.md", "docs/**/*.md").map((path) => ({ path, page: text(path) }));
const shellBlocks = (page: string): readonly Block[] => blocksOf(page).filter(isShell);

describe("the help of commands", () => {
  it("says defaults in words", () => {
    // commander writes a default that is an object as JSON.
    expect(helpTexts().filter((help) => /default:\s*[{[]/.test(help))).toEqual([]);
  });
});

describe("what the documents name is there", () => {
  const sources = listed("*.ts", "*.mjs", "*.yaml", "*.service").filter(
    (path) => !/^test\/docs\/|\.test\.ts$/.test(path),
  );
  const names = new Set(sources.flatMap((path) => text(path).match(/\bSONDE_[A-Z0-9_]+|\bsonde_[a-z0-9_]+/g) ?? []));

  it.each(PAGES)("$path", ({ page }) => {
    const steps = shellBlocks(page).flatMap(stepsOf);
    const found = [
      ...steps.flatMap(({ line, command }) => commandFaults(command).map((fault) => `${line}: ${fault}`)),
      ...spansOf(page).flatMap(({ line, text: span }) => spanFaults(span).map((fault) => `${line}: ${fault}`)),
      ...nameFaults(page, names),
    ];
    expect(found).toEqual([]);
  });
});

it("what the help of the commands shows can be typed", () => {
  const examples = helpExamples();
  expect(examples.length).toBeGreaterThan(40);
  expect(examples.flatMap(commandFaults)).toEqual([]);
});

const needsOf = (blocks: readonly Block[]): ReadonlySet<Need> =>
  new Set(blocks.flatMap(({ plan }) => (plan?.type === "run" ? plan.needs : [])));

const RUN = PAGES.map(({ path, page }) => {
  const blocks = shellBlocks(page).filter(({ plan }) => plan?.type === "run");
  return { path, steps: blocks.flatMap(stepsOf), needs: needsOf(blocks) };
}).filter(({ steps }) => steps.length > 0);

const PREREQUISITES: Readonly<Partial<Record<Need, readonly Prerequisite[]>>> = {
  stores: ["clients of the stores"],
  cores: ["proxy cores", "openssl"],
  namespace: ["root", "network namespaces", "unshare", "nft"],
  systemd: ["root", "systemd", "unshare", "setpriv", "network namespaces"],
};

type OnePage = (typeof RUN)[number];

/** Pages at a time: most of a page is waiting. */
const AT_A_TIME = 2;
const places = new Slots(AT_A_TIME);
const turns = new Slots(1);

/** Pages with no needs but these share one service, in their order, and so one count of ids. */
const GUESTS_NEED: ReadonlySet<Need> = new Set(["service", "website", "list"]);
const isGuest = ({ needs }: OnePage): boolean =>
  needs.has("service") && [...needs].every((need) => GUESTS_NEED.has(need));
let host: Promise<World> | undefined;

function asGuest({ steps }: OnePage): Promise<void> {
  return turns.use(() =>
    places.use(async () => {
      host ??= openWorld(new Set(RUN.filter(isGuest).flatMap(({ needs }) => [...needs])));
      const world = await host;
      world.openTerminal();
      for (const step of steps) await world.take(step);
    }),
  );
}

function alone({ steps, needs }: OnePage, stores?: SharedServers["stores"]): Promise<void> {
  return places.use(async () => {
    const world = await openWorld(needs, stores);
    try {
      for (const step of steps) await world.take(step);
    } finally {
      await world.close();
    }
  });
}

const shared = await startShared();

describe.concurrent("the commands of", () => {
  afterAll(async () => {
    await (await host)?.close();
    closeTerminals();
    await cleanUp();
    if (!isMissing(shared)) await shared.stop();
  });

  for (const page of RUN) {
    const wanted: readonly Prerequisite[] = [
      "commands of the documents",
      ...[...page.needs].flatMap((need) => PREREQUISITES[need] ?? []),
    ];
    const reason = wanted.map(missing).find((why) => why !== undefined);
    if (reason !== undefined) insteadOf(page.path, reason);
    else if (page.needs.has("stores") && isMissing(shared)) insteadOf(page.path, shared.missing);
    else {
      const stores = isMissing(shared) ? undefined : shared.stores;
      it(page.path, { timeout: PAGE_WITHIN_MS }, () => (isGuest(page) ? asGuest(page) : alone(page, stores)));
    }
  }
});
