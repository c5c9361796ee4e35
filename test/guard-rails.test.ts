/** The guard rails themselves: each rule of `npm run verify` that is ours refuses what it is there to refuse. */
import { mkdirSync, mkdtempSync, readdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { cruise } from "dependency-cruiser";
import extractDepcruiseOptions from "dependency-cruiser/config-utl/extract-depcruise-options";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../testkit/temporary-folder.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const { impuritiesOf } = (await import(new URL("../scripts/verify/pure.mjs", import.meta.url).href)) as {
  impuritiesOf(path: string, source: string): string[];
};
const { decodersWithoutProperties } = (await import(new URL("../scripts/verify/fuzzed.mjs", import.meta.url).href)) as {
  decodersWithoutProperties(texts: ReadonlyMap<string, string>): string[];
};
type Literals = ReadonlyMap<string, { readonly pattern: string; readonly flags: string; readonly place: string }>;
const { expressionsOf, findingsOf } = (await import(
  new URL("../scripts/verify/expressions.mjs", import.meta.url).href
)) as {
  expressionsOf(texts: ReadonlyMap<string, string>): { literals: Literals; composed: readonly { place: string }[] };
  findingsOf(literals: Literals): Promise<readonly string[]>;
};
const { findingsOf: lengthsOf, functionsOf } = (await import(
  new URL("../scripts/verify/functions.mjs", import.meta.url).href
)) as {
  functionsOf(texts: ReadonlyMap<string, string>): ReadonlyMap<string, number>;
  findingsOf(long: ReadonlyMap<string, number>): readonly string[];
};
const { unnamedIn, unresolvedIn, wordsIn } = (await import(
  new URL("../scripts/verify/references.mjs", import.meta.url).href
)) as {
  unresolvedIn(texts: ReadonlyMap<string, string>, read: (path: string) => string | undefined): readonly string[];
  unnamedIn(texts: ReadonlyMap<string, string>, all: readonly string[]): readonly string[];
  wordsIn(texts: ReadonlyMap<string, string>, allowed: Readonly<Record<string, number>>): readonly string[];
};

const { namesIn } = (await import(new URL("../scripts/verify/names.mjs", import.meta.url).href)) as {
  namesIn(texts: ReadonlyMap<string, string>): readonly string[];
};
const { blockFaults } = (await import(new URL("../scripts/verify/blocks.mjs", import.meta.url).href)) as {
  blockFaults(texts: ReadonlyMap<string, string>, formOnly: number): readonly string[];
};

const { strayThreadsIn } = (await import(new URL("../scripts/verify/threads.mjs", import.meta.url).href)) as {
  strayThreadsIn(texts: ReadonlyMap<string, string>): readonly string[];
};

const { lockFaults, notesFaults } = (await import(new URL("../scripts/verify/release.mjs", import.meta.url).href)) as {
  lockFaults(path: string, lock: object, wanted: object): readonly string[];
  notesFaults(notes: string, version: string): readonly string[];
};

const { circlesIn, strayImportsOf } = (await import(new URL("../scripts/verify/page.mjs", import.meta.url).href)) as {
  circlesIn(texts: ReadonlyMap<string, string>): readonly string[];
  strayImportsOf(path: string, source: string): readonly string[];
};

it("refuses what the page may not import", () => {
  const found = (name: string) =>
    strayImportsOf("web/parts/a.tsx", `import { b } from "${name}";\nexport const a = <b />;\n`);
  for (const name of ["preact", "./b.tsx", "../state/b.ts", "../../model/kind.ts"]) expect(found(name)).toEqual([]);
  for (const name of ["zod", "node:fs", "../../api/api.ts"]) expect(found(name)).toHaveLength(1);
});

it("refuses files of the page that import each other in a circle", () => {
  const files = (...imports: readonly (readonly [path: string, name: string])[]) =>
    new Map(imports.map(([path, name]) => [path, `import type { b } from "${name}";\nexport const a = <b />;\n`]));
  expect(
    circlesIn(files(["web/a.tsx", "./b.tsx"], ["web/b.tsx", "./c.tsx"], ["web/c.tsx", "../model/kind.ts"])),
  ).toEqual([]);
  const [circle] = circlesIn(files(["web/a.tsx", "./b.tsx"], ["web/b.tsx", "./c.tsx"], ["web/c.tsx", "./b.tsx"]));
  expect(circle).toContain("web/b.tsx imports web/c.tsx imports web/b.tsx");
});

it("refuses a lock that lacks what another platform installs, or a hash", () => {
  const wanted = { dependencies: { native: "1.0.0" } };
  const other = { version: "1.0.0", optional: true, os: ["darwin"] };
  const native = { version: "1.0.0", integrity: "sha512-a", optionalDependencies: { "native-mac": "1.0.0" } };
  const faults = (packages: object): readonly string[] =>
    lockFaults("lock", { packages: { "": wanted, ...packages } }, wanted);
  expect(faults({ "node_modules/native": native, "node_modules/native-mac": other })).toEqual([]);
  const nested = { "node_modules/native": native, "node_modules/native/node_modules/native-mac": other };
  expect(faults(nested)).toEqual([]);
  expect(faults({ "node_modules/native": native })).toEqual([
    "lock: native-mac, which node_modules/native needs, is missing",
  ]);
  const withoutHash = { ...native, integrity: undefined };
  expect(faults({ "node_modules/native": withoutHash, "node_modules/native-mac": other })).toEqual([
    "lock: node_modules/native has no hash",
  ]);
  expect(lockFaults("lock", { packages: { "": {} } }, wanted)).toHaveLength(1);
});

it("refuses release notes that are not of the release", () => {
  const notes = "# Changelog\n\n## Unreleased\n\n## 0.2.0 (2026-11-24)\n\n## 0.1.0 (2026-11-01)\n";
  expect(notesFaults(notes, "0.2.0")).toEqual([]);
  expect(notesFaults("## Unreleased\n", "0.1.0")).toEqual([]);
  expect(notesFaults(notes, "0.3.0")).toHaveLength(1);
  expect(notesFaults(`${notes}## Unreleased\n`, "0.2.0")).toHaveLength(1);
  expect(notesFaults("## 0.2\n", "0.2.0")).not.toEqual([]);
});

it("refuses a thread that is started in a new place", () => {
  const starts = (path: string, source: string) => strayThreadsIn(new Map([[path, source]])).length;
  expect(starts("engine/pool/pool.ts", "new Piscina({})")).toBe(0);
  expect(starts("store/sql/sink/writer.ts", "new Worker(file)")).toBe(0);
  expect(starts("store/results/pump.ts", "const a = new Worker(file)")).toBe(1);
  expect(starts("engine/direct/direct.ts", "new Piscina({})")).toBe(1);
  expect(starts("engine/run/run.ts", "new WorkerList()")).toBe(0);
});

describe("import rules", () => {
  const tree = temporaryFolder();

  const rules = (createRequire(import.meta.url)("../.dependency-cruiser.cjs") as { forbidden: { name: string }[] })
    .forbidden;
  const owned = rules.flatMap(({ name }) => (name.startsWith("only-there-") ? [name.slice("only-there-".length)] : []));

  const options = extractDepcruiseOptions(join(ROOT, ".dependency-cruiser.cjs"));

  type Files = Readonly<Record<string, string>>;
  interface Violation {
    readonly from: string;
    readonly rule: { readonly name: string };
  }

  /** Where the imports of a small house break a rule. */
  async function violationsOf(files: Files): Promise<readonly Violation[]> {
    const house = mkdtempSync(join(tree, "house-"));
    for (const name of [...owned, "vitest"]) {
      const folder = join(house, "node_modules", name);
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, "package.json"), JSON.stringify({ name, main: "index.js" }));
      writeFileSync(join(folder, "index.js"), "");
    }
    writeFileSync(
      join(house, "package.json"),
      JSON.stringify({
        dependencies: Object.fromEntries(owned.map((name) => [name, "*"])),
        devDependencies: { vitest: "*" },
      }),
    );
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(house, path)), { recursive: true });
      writeFileSync(join(house, path), text);
    }
    const { output } = await cruise(["."], { ...(await options), baseDir: house, outputType: "json" });
    const report = JSON.parse(String(output)) as { summary: { violations: readonly Violation[] } };
    return report.summary.violations;
  }
  const namesOf = (violations: readonly Violation[]): readonly string[] =>
    [...new Set(violations.map(({ rule }) => rule.name))].sort();
  const leaf = "export const a = 1;\n";
  const uses = (...paths: string[]): string =>
    paths.map((path, i) => `import * as x${i} from "${path}";\nexport const y${i} = x${i};\n`).join("");

  it("passes a house in order", async () => {
    const files = {
      "model/a.ts": leaf,
      "store/sql/a.ts": uses("../../model/a.ts", "../sqlite-library.ts"),
      "store/sqlite-library.ts": uses("better-sqlite3"),
      "engine/prober/a.ts": uses("../a.ts"),
      "engine/a.ts": leaf,
      "engine/pool/pool.ts": uses("../../model/a.ts", "../prober/a.ts", "piscina"),
      "engine/contract/registry.ts": leaf,
      "api/a.ts": uses("../store/sql/a.ts", "../engine/contract/registry.ts"),
      "roles/up.ts": uses("../api/a.ts", "../engine/pool/pool.ts"),
      "store/sql/port.ts": leaf,
      "store/state/a.ts": leaf,
      "checker/a.ts": uses("../store/state/a.ts"),
      "roles/shared.ts": `import type { a } from "../store/sql/port.ts";\nexport type B = a;\n`,
      "roles/checker.ts": uses("../checker/a.ts", "./shared.ts"),
      "cli/commands/up.ts": uses("../../roles/up.ts"),
    };
    expect(await violationsOf(files)).toEqual([]);
  });

  const BITES: readonly (readonly [rule: string, files: Files])[] = [
    ["room-native", { "model/a.ts": leaf, "native/a.ts": uses("../model/a.ts") }],
    ["room-engine", { "store/a.ts": leaf, "engine/run/a.ts": uses("../../store/a.ts") }],
    ["room-cli", { "api/a.ts": leaf, "cli/a.ts": uses("../api/a.ts") }],
    ["room-cli/admin", { "scheduler/a.ts": leaf, "cli/admin/a.ts": uses("../../scheduler/a.ts") }],
    ["room-cli/(check|bulk)", { "store/a.ts": leaf, "cli/bulk/a.ts": uses("../../store/a.ts") }],
    ["room-cli/document", { "api/a.ts": leaf, "cli/document/a.ts": uses("../../api/a.ts") }],
    ["room-cli/import", { "api/a.ts": leaf, "cli/import/a.ts": uses("../../api/a.ts") }],
    ["room-cli/transfer", { "engine/a.ts": leaf, "cli/transfer/a.ts": uses("../../engine/a.ts") }],
    ["room-demo", { "api/a.ts": leaf, "demo/a.ts": uses("../api/a.ts") }],
    ["room-web", { "api/a.ts": leaf, "web/a.ts": uses("../api/a.ts") }],
    ["nothing-imports-the-page", { "web/a.ts": leaf, "api/a.ts": uses("../web/a.ts") }],
    ["leaves-of-store/sql", { "store/sql/db/a.ts": leaf, "store/sql/a.ts": uses("./db/a.ts") }],
    ["root-files", { "model/kind.ts": leaf, "log.ts": uses("./model/kind.ts") }],
    ["nothing-imports-bench", { "bench/a.ts": leaf, "engine/run/a.ts": uses("../../bench/a.ts") }],
    ["test-libraries-in-tests", { "engine/run/a.ts": uses("vitest") }],
    ["room-model", { "store/a.ts": leaf, "model/a.ts": uses("../store/a.ts") }],
    ["room-store", { "engine/run/run.ts": leaf, "store/new-folder/a.ts": uses("../../engine/run/run.ts") }],
    ["room-api", { "engine/run/run.ts": leaf, "api/a.ts": uses("../engine/run/run.ts") }],
    [
      "room-scheduler",
      { "api/a.ts": leaf, "scheduler/a.ts": `import type { a } from "../api/a.ts";\nexport type B = a;\n` },
    ],
    [
      "floor-engine-protocols",
      { "engine/transport/a.ts": leaf, "engine/protocols/x/a.ts": uses("../../transport/a.ts") },
    ],
    ["floor-engine-run", { "engine/pool/a.ts": leaf, "engine/run/a.ts": uses("../pool/a.ts") }],
    ["floor-store-sql", { "store/state/a.ts": leaf, "store/sql/db/a.ts": uses("../../state/a.ts") }],
    ["floor-store/sql-monitors", { "store/sql/sink/a.ts": leaf, "store/sql/monitors/a.ts": uses("../sink/a.ts") }],
    ["leaves-of-store", { "store/sql/db/a.ts": leaf, "store/a.ts": uses("./sql/db/a.ts") }],
    ["floor-scheduler-plan", { "scheduler/judge/a.ts": leaf, "scheduler/plan/a.ts": uses("../judge/a.ts") }],
    ["floor-scheduler-sink", { "scheduler/judge/a.ts": leaf, "scheduler/sink/a.ts": uses("../judge/a.ts") }],
    ["floor-scheduler-run", { "scheduler/judge/a.ts": leaf, "scheduler/run/a.ts": uses("../judge/a.ts") }],
    ["leaves-of-scheduler", { "scheduler/run/a.ts": leaf, "scheduler/a.ts": uses("./run/a.ts") }],
    ["room-checker", { "scheduler/judge/a.ts": leaf, "checker/a.ts": uses("../scheduler/judge/a.ts") }],
    ["leaves-of-engine", { "engine/pool/a.ts": leaf, "engine/a.ts": uses("./pool/a.ts") }],
    [
      "checker-has-no-database",
      {
        "store/sql/control-plane/open.ts": leaf,
        "scheduler/webhooks/start.ts": uses("../../store/sql/control-plane/open.ts"),
        "roles/shared.ts": uses("../scheduler/webhooks/start.ts"),
        "roles/checker.ts": uses("./shared.ts"),
      },
    ],
    [
      "checker-has-no-database",
      {
        "store/sqlite-library.ts": uses("better-sqlite3"),
        "store/state/counters.ts": uses("../sqlite-library.ts"),
        "store/state/open.ts": `export const open = () => import("./counters.ts");\n`,
        "checker/a.ts": uses("../store/state/open.ts"),
      },
    ],
    [
      "checker-has-no-database",
      {
        "store/sql/db/a.ts": leaf,
        "store/sql/port.ts": uses("./db/a.ts"),
        "engine/direct/direct.ts": uses("../../store/sql/port.ts"),
      },
    ],
    ["main-is-wiring", { "roles/up.ts": leaf, "cli/commands/monitors.ts": uses("../../roles/up.ts") }],
    ["config-is-handed-in", { "config.ts": leaf, "engine/a.ts": uses("../config.ts") }],
    ["processes-from-named-files", { "engine/a.ts": uses("node:child_process") }],
    ["probes-stand-alone", { "engine/probes/a.ts": leaf, "engine/probes/b.ts": uses("./a.ts") }],
    ["pure-imports-model", { "model/a.ts": uses("node:fs") }],
    ["pure-imports-protocols", { "engine/protocols/x/a.ts": uses("node:dgram") }],
    ["nothing-imports-tests", { "test/a.ts": leaf, "engine/a.ts": uses("../test/a.ts") }],
    ["nothing-imports-tests", { "testkit/a.ts": leaf, "engine/a.ts": uses("../testkit/a.ts") }],
    ["nothing-imports-tests", { "testkit/a.ts": leaf, "demo/a.ts": uses("../testkit/a.ts") }],
    ["no-cycle", { "store/a.ts": uses("./b.ts"), "store/b.ts": uses("./a.ts") }],
    ["not-resolvable", { "store/a.ts": uses("./gone.ts") }],
  ];
  // A house takes most of a second, however small it is: cases that do not want other texts in the same files share one.
  const houses: Record<string, string>[] = [];
  const cases = BITES.map(([rule, files]) => {
    const fits = (house: Files): boolean =>
      Object.entries(files).every(([path, text]) => (house[path] ?? text) === text);
    const house = houses.find(fits) ?? {};
    if (!houses.includes(house)) houses.push(house);
    Object.assign(house, files);
    return [rule, files, house] as const;
  });
  const looked = new Map<Files, Promise<readonly Violation[]>>();

  it.each(cases)("%s", async (rule, files, house) => {
    const looking = looked.get(house) ?? violationsOf(house);
    looked.set(house, looking);
    expect(namesOf((await looking).filter(({ from }) => Object.hasOwn(files, from)))).toContain(rule);
  });

  it("of packages bite for each package", async () => {
    const found = namesOf(await violationsOf({ "docker/a.ts": leaf, "model/b.ts": uses(...owned) }));
    expect(found.filter((rule) => rule.startsWith("only-there-"))).toEqual(
      owned.map((name) => `only-there-${name}`).sort(),
    );
  });

  it("are all shown to bite: here, or with the floors", () => {
    const shown = new Set(BITES.map(([rule]) => rule));
    const others = rules.filter(({ name }) => !/^(?:only-there|floor)-/.test(name) && !shown.has(name));
    expect(others).toEqual([]);
  });
});

describe("floors", () => {
  interface Floor {
    readonly name: string;
    readonly from: { readonly path: string; readonly pathNot: string };
    readonly to: { readonly path: string; readonly pathNot: readonly string[] };
  }
  const rules = (createRequire(import.meta.url)("../.dependency-cruiser.cjs") as { forbidden: Floor[] }).forbidden;
  const floors = rules.filter(({ name }) => name.startsWith("floor-"));
  const foldersOf = (room: string): string[] =>
    readdirSync(join(ROOT, room), { withFileTypes: true }).flatMap((entry) =>
      entry.isDirectory() ? [entry.name] : [],
    );
  /** As dependency-cruiser applies a rule (shown by "import rules"): what it says of one import. */
  const forbids = ({ from, to }: Floor, importer: string, imported: string): boolean =>
    new RegExp(from.path).test(importer) &&
    new RegExp(to.path).test(imported) &&
    !to.pathNot.some((allowed) => new RegExp(allowed).test(imported));

  it.each(floors)("$name: refuses each folder of its room that it does not list", (floor) => {
    const [, room = "", folder = ""] = /^\^(.+)\/([^/]+)\/$/.exec(floor.from.path) ?? [];
    expect(foldersOf(room)).toContain(folder);
    const refused = foldersOf(room).filter((other) =>
      forbids(floor, `${room}/${folder}/a.ts`, `${room}/${other}/a.ts`),
    );
    expect(refused.length).toBeGreaterThan(0);
    expect(refused).not.toContain(folder);
    expect(forbids(floor, `${room}/${folder}/a.ts`, `${room}/a.ts`)).toBe(false);
  });

  const roomOf = ({ from }: Floor): string => /^\^(.+)\/[^/]+\/$/.exec(from.path)?.[1] ?? "";

  it.each([...new Set(floors.map(roomOf))])("%s: has a floor for each folder", (room) => {
    const names = floors.filter((floor) => roomOf(floor) === room).map(({ name }) => name);
    expect(names.sort()).toEqual(
      foldersOf(room)
        .map((folder) => `floor-${room}-${folder}`)
        .sort(),
    );
  });
});

describe("pure code", () => {
  it.each([
    ["model/a.ts", "export const a = () => Date.now();"],
    ["model/a.ts", "export const a = (now = Date.now) => now();"],
    ["model/a.ts", "export const a = () => new Date();"],
    ["engine/protocols/x/a.ts", "export const a = () => Math.random();"],
    ["engine/protocols/x/a.ts", 'import { randomBytes } from "node:crypto"; export const a = randomBytes;'],
    ["engine/protocols/x/a.ts", 'import { connect } from "node:net"; export const a = connect;'],
    ["scheduler/due/wheel.ts", "setTimeout(() => {}, 1);"],
    ["scheduler/some-new-file.ts", "export const a = performance.now();"],
    ["engine/net/ip.ts", "globalThis.setTimeout(() => {}, 1);"],
    ["engine/prober/worker.ts", "export const a = process.env.HOME;"],
  ])("refuses in %s: %s", (path, source) => {
    expect(impuritiesOf(path, source)).toHaveLength(1);
  });

  it.each([
    ["model/a.ts", "export const a = (nowMs: number) => new Date(nowMs); // Date.now()"],
    ["model/a.ts", "export const a = (clock: { setTimeout(): void }, setTimeout: () => void) => setTimeout();"],
    ["engine/prober/worker.ts", "export const a = Date.now();"],
    ["engine/protocols/x/a.ts", 'import { isIP } from "node:net"; export const a = isIP;'],
    ["config.ts", "export const a = process.env.HOME;"],
  ])("lets pass in %s: %s", (path, source) => {
    expect(impuritiesOf(path, source)).toEqual([]);
  });

  it("says the line", () => {
    expect(impuritiesOf("model/a.ts", "// äöü\n\nconst a = 1;\nMath.random();\n")).toEqual([
      "model/a.ts:4 uses Math.random: take it as an argument",
    ]);
  });
});

describe("decoders are fuzzed", () => {
  const decoder = "export function decodeThing(bytes: Uint8Array) { return bytes; }";
  const property = 'import { decodeThing } from "./thing.ts"; fc.property(fc.uint8Array(), decodeThing);';

  it("wants a property test beside a decoder", () => {
    const found = (files: Record<string, string>) => decodersWithoutProperties(new Map(Object.entries(files)));
    expect(found({ "engine/protocols/x/thing.ts": decoder })).toHaveLength(1);
    expect(found({ "engine/protocols/x/thing.ts": "export const parseThing = (text: string) => text;" })).toHaveLength(
      1,
    );
    const reader = "export class ThingReader {} export interface OtherReader {}";
    expect(found({ "engine/protocols/x/thing.ts": reader, "store/thing.ts": reader })).toHaveLength(1);
    const plain = property.replace("fc.property", "expect");
    expect(found({ "engine/protocols/x/thing.ts": decoder, "engine/protocols/x/thing.test.ts": plain })).toHaveLength(
      1,
    );
    expect(found({ "engine/protocols/x/thing.ts": decoder, "engine/protocols/y/a.test.ts": property })).toHaveLength(1);
    expect(found({ "engine/protocols/x/thing.ts": decoder, "engine/protocols/x/thing.test.ts": property })).toEqual([]);
  });
});

describe("regular expressions", () => {
  const of = (source: string) => expressionsOf(new Map([["a.ts", source]]));

  it("finds those that grow faster than their text: within one match, between places where it may begin, and without end", async () => {
    const { literals } = of(
      [
        "export const trailing = /[\"']+$/;",
        "export const between = (text: string) => text.split(/[\\t ]*,[\\t ]*/);",
        "export const lines = /^\\s*Endpoint\\s*=/im;",
        'export const written = new RegExp("^(a|a)*$", "u");',
        'export const sought = (text: string) => text.search("=+;");',
      ].join("\n"),
    );
    expect(literals.size).toBe(5);
    const findings = await findingsOf(literals);
    expect(findings.map((line) => line.split(" ")[0])).toEqual(["a.ts:1", "a.ts:2", "a.ts:3", "a.ts:4", "a.ts:5"]);
  }, 300_000);

  it("passes those that look at every place a bounded number of times", async () => {
    const { literals, composed } = of(
      "export const a = [/^[^?#]*@/s, /^\\d{1,5}(?:-\\d{1,5})?$/, /\\s/g, /=\\s*vmess/i, /<([^<>]*)>/g];\n",
    );
    expect(literals.size).toBe(5);
    expect(composed).toEqual([]);
    expect(await findingsOf(literals)).toEqual([]);
  }, 120_000);

  it("says where a pattern is put together", () => {
    const { composed } = of('export const a = (word: string) => new RegExp("^" + word);\n');
    expect(composed.map(({ place }) => place)).toEqual(["a.ts:1"]);
  });
});

describe("lengths of functions", () => {
  const body = (lines: number): string => "  work();\n".repeat(lines);
  const texts = new Map([
    ["a.ts", `export function short(): void {\n${body(58)}}\n${"\n".repeat(10)}`],
    ["b.ts", `export function long(): void {\n${body(59)}}\n`],
    ["c.ts", `export const arrow = (): void => {\n${body(70)}};\n`],
    ["d.ts", `export class A {\n  #hidden(): void {\n${body(70)}  }\n}\n`],
  ]);

  it("end at sixty lines, however the function is written", () => {
    expect([...functionsOf(texts)]).toEqual([
      ["b.ts long", 61],
      ["c.ts arrow", 72],
      ["d.ts hidden", 72],
    ]);
  });

  it("are refused above sixty lines", () => {
    expect(lengthsOf(functionsOf(new Map([...texts].slice(0, 2))))).toEqual(["b.ts long has 61 lines, more than 60"]);
  });
});

describe("references", () => {
  const documents: Readonly<Record<string, string>> = {
    "docs/a.md": "# One\n## Two words, and more\n",
    "README.md": "",
  };
  const found = (path: string, line: string) => unresolvedIn(new Map([[path, line]]), (name) => documents[name]);

  it("lead to a document, and to a heading of it", () => {
    expect(found("a.ts", "// docs/a.md, docs/a.md#one, #two-words-and-more")).toEqual([]);
    expect(found("a.ts", "// docs/b.md")).toEqual(["a.ts:1 points to docs/b.md, which is not there"]);
    expect(found("a.ts", "// docs/a.md#three")).toEqual([
      "a.ts:1 points to docs/a.md#three, which has no such heading",
    ]);
    expect(found("docs/a.md", "[x](../README.md) [y](#one) [z](https://test-site.org)")).toEqual([]);
    expect(found("docs/a.md", "[x](b.md)")).toEqual(["docs/a.md:1 points to docs/b.md, which is not there"]);
  });

  it("lead nowhere outside the repository", () => {
    for (const words of [
      "open-points 3.2",
      "design 7.1",
      "(design, section 8)",
      "reference 4.5",
      "peers.md 24",
      "issue 6",
      "Contract, Limits 8",
    ])
      expect(found("a.ts", `// as ${words} says`)).toHaveLength(1);
    expect(found("a.ts", "// silent by design, so silence says little")).toEqual([]);
  });

  it("find files and folders that a page names, by their whole path or its end", () => {
    const page = "`engine/run/a.ts`, `a.ts`, `run/`, `engine/<kind>.ts`, `*.test.ts`\n`engine/b.ts`, `b.ts`, `gone/`";
    const all = ["engine/run/a.ts"];
    expect(unnamedIn(new Map([["docs/p.md", page]]), all)).toEqual(
      ["engine/b.ts", "b.ts", "gone/"].map((name) => `docs/p.md:2 names ${name}, which is not there`),
    );
    expect(unnamedIn(new Map([["engine/run/a.ts", page]]), all)).toEqual([]);
  });

  it("and words for persons are as few as a list says", () => {
    const texts = new Map([["engine/a.ts", "// nobody knows, Strangers least"]]);
    expect(wordsIn(texts, { engine: 2 })).toEqual([]);
    expect(wordsIn(texts, {})[0]).toMatch(/^engine has 2 of the words .* more than 0 \(engine\//);
    expect(wordsIn(texts, { engine: 3, api: 1 })).toEqual([
      "scripts/verify/debts.mjs: engine has only 2 of the forbidden words now",
      "scripts/verify/debts.mjs: api has only 0 of the forbidden words now",
    ]);
  });
});

describe("names", () => {
  const faults = (source: string): readonly string[] => namesIn(new Map([["a.ts", source]]));

  it.each([
    ["a parameter given", "export function f(given: number) { return given; }"],
    ["a parameter told", "export const f = (told = 1) => told;"],
    ["a parameter own", "export class A { #f(...own: number[]) { return own; } }"],
    ["a parameter given", "export interface A { f(given: number): void; }"],
    ["a parameter given", "export type F = (given: number) => void;"],
    ["a type RedisPlace", "export interface RedisPlace {}"],
    ["a type WireguardEnd", "export type WireguardEnd = string;"],
    ["a type CheckerDesk", "export class CheckerDesk {}"],
  ])("that say nothing are refused: %s", (what, source) => {
    expect(faults(source)).toEqual([expect.stringContaining(`a.ts:1 has ${what}: `)]);
  });

  it("of members and locals are not looked at, nor words that only end alike", () => {
    expect(faults("export const f = ({ own }: { own: number }) => { const told = own; return told; };")).toEqual([]);
    expect(faults("export interface Endpoint {} export type Marketplace = string;")).toEqual([]);
  });
});

describe("blocks of commands in documents", () => {
  const faults = (formOnly: number, ...lines: readonly string[]): readonly string[] =>
    blockFaults(new Map([["docs/p.md", lines.join("\n")]]), formOnly);

  it("are run, or say why not", () => {
    expect(
      faults(0, "<!-- run -->", "", "```sh", "a", "```", "<!-- run: website -->", "```console", "$ a", "```"),
    ).toEqual([]);
    expect(faults(1, "<!-- form: no Docker here -->", "```sh", "a", "```", "```json", "{}", "```")).toEqual([]);
    expect(faults(0, "words", "", "```sh", "a", "```")).toEqual([expect.stringMatching(/^docs\/p\.md:3 has commands/)]);
    expect(faults(0, "<!-- form -->", "```sh", "a", "```")).toHaveLength(1);
    expect(faults(0, "```", "sonde up", "```")).toEqual([expect.stringMatching(/^docs\/p\.md:1 .* no language/)]);
  });

  it("that are not run become fewer", () => {
    expect(faults(0, "<!-- form: a -->", "```sh", "a", "```")).toEqual([expect.stringContaining("more than 0")]);
    expect(faults(1, "words")).toEqual([expect.stringContaining("only 0")]);
  });
});
