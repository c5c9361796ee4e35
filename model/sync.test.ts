import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { MAX_CONFIGS } from "./subscription.ts";
import { type FormerServer, type ListedConfig, type ListedServer, mayReplace, planSync, syncNote } from "./sync.ts";

const config = (identity: string, over: Partial<ListedConfig> = {}): ListedConfig => ({
  identity,
  tag: `tag ${identity}`,
  type: "vless",
  port: 443,
  sealed: `sealed ${identity}`,
  ...over,
});
const listed = (address: string, ...identities: string[]): ListedServer => ({
  address,
  name: `tag ${identities[0]}`,
  configs: identities.map((identity) => config(identity)),
});
const former = (monitorId: number, address: string, ...identities: string[]): FormerServer => ({
  monitorId,
  address,
  name: `tag ${identities[0]}`,
  kind: "vless",
  configCount: identities.length,
  pauseReasons: [],
  configs: identities.map((identity, position) => ({
    id: monitorId * 1_000 + position,
    identity,
    position,
    tag: `tag ${identity}`,
    port: 443,
  })),
});
const gone = (server: FormerServer): FormerServer => ({ ...server, pauseReasons: ["provider"] });
const plan = (before: FormerServer[], now: ListedServer[], excluded: string[] = [], freeSlots: number | null = null) =>
  planSync({ former: before, listed: now, excluded: new Set(excluded), freeSlots });

describe("a new list against what was imported", () => {
  it("creates what is new, pauses what left, resumes what is back, and leaves alone what is the same", () => {
    const found = plan(
      [former(1, "kept", "a"), former(2, "left", "b"), gone(former(3, "back", "c")), gone(former(4, "gone", "d"))],
      [listed("new", "n"), listed("kept", "a"), listed("back", "c")],
    );
    expect(found).toMatchObject({ leftIds: [2], returnedIds: [3], changed: [], leftOut: 0 });
    expect(found.created.map(({ address }) => address)).toEqual(["new"]);
  });

  it("keeps configs that are renamed or stand elsewhere: nothing else is run", () => {
    const renamed = { ...listed("s", "b", "a"), configs: [config("b"), config("a", { tag: "other" })] };
    const [change] = plan([former(1, "s", "a", "b")], [renamed]).changed;
    expect(change).toMatchObject({ monitorId: 1, added: [], removedIds: [], runsOthers: false, name: "tag b" });
    expect(change?.moved).toEqual([
      { id: 1_001, position: 0, tag: "tag b" },
      { id: 1_000, position: 1, tag: "other" },
    ]);
  });

  it("says what configs of a server came and went", () => {
    const [change] = plan([former(1, "s", "a", "b")], [listed("s", "a", "c")]).changed;
    expect(change).toMatchObject({ removedIds: [1_001], runsOthers: true });
    expect(change?.added).toMatchObject([{ position: 1, config: { identity: "c" } }]);
  });

  it("changes the protocol only when no config of it is left", () => {
    const mixed: ListedServer = { address: "s", name: null, configs: [config("t", { type: "trojan" }), config("a")] };
    expect(plan([former(1, "s", "a")], [mixed]).changed[0]?.kind).toBe("vless");
    const other: ListedServer = { ...mixed, configs: [config("t", { type: "trojan" })] };
    expect(plan([former(1, "s", "a")], [other]).changed[0]?.kind).toBe("trojan");
  });

  it("does not bring back what was deleted, and counts what finds no slot", () => {
    const found = plan([], [listed("x", "x"), listed("a", "a"), listed("b", "b")], ["x"], 1);
    expect(found.created.map(({ address }) => address)).toEqual(["a"]);
    expect(found.leftOut).toBe(1);
  });

  it("tests the same 256 of a larger server, in whatever order they come", () => {
    const identities = Array.from({ length: MAX_CONFIGS + 50 }, (_, index) => `c${index}`);
    const before = { ...former(1, "s", ...identities.slice(0, MAX_CONFIGS)), configCount: identities.length };
    const [change] = plan([before], [listed("s", ...identities.toReversed())]).changed;
    expect(change).toMatchObject({ added: [], removedIds: [], runsOthers: false });
    expect(change?.moved).toHaveLength(MAX_CONFIGS);
  });

  it("applied and asked again: nothing is left to do", () => {
    const name = fc.constantFrom("a", "b", "c", "d", "e");
    const list = fc.uniqueArray(fc.tuple(name, fc.uniqueArray(name, { minLength: 1 })), { selector: ([host]) => host });
    fc.assert(
      fc.property(list, list, (first, second) => {
        const before = first.map(([host, own], index) => former(index + 1, host, ...own));
        const now = second.map(([host, own]) => listed(host, ...own));
        const found = plan(before, now);
        const kept = before.filter(({ monitorId }) => !found.leftIds.includes(monitorId));
        const after = [...kept.map(({ address }) => address), ...found.created.map(({ address }) => address)];
        expect(after.sort()).toEqual(now.map(({ address }) => address).sort());
        const done = now.map((server, index) =>
          former(index + 1, server.address, ...server.configs.map((c) => c.identity)),
        );
        expect(plan(done, now)).toEqual({ created: [], leftOut: 0, leftIds: [], returnedIds: [], changed: [] });
      }),
    );
  });
});

describe("lists that may replace the one before", () => {
  it("are not empty, and did not shrink too much, or did so three times", () => {
    expect([mayReplace(0, 0, 0), mayReplace(9, 0, 9), mayReplace(10, 3, 0)]).toEqual([false, false, true]);
    expect([0, 1, 2].map((refused) => mayReplace(10, 2, refused))).toEqual([false, false, true]);
  });
});

describe("what a sync says", () => {
  const nothing = {
    leftOut: 0,
    slots: 15,
    badCount: 0,
    firstBad: null,
    unsupported: {},
    intervalS: 60,
    maxWorkers: 50,
    latenessMs: Array.from({ length: 60 }, () => 100),
  };

  it("is nothing when all is well", () => {
    expect(syncNote(nothing)).toBeNull();
    expect(syncNote({ ...nothing, latenessMs: [] })).toBeNull();
    // Fewer than may run at once: whatever makes them late, it is not the cap.
    expect(syncNote({ ...nothing, latenessMs: [20_000] })).toBeNull();
  });

  it("names what was left out, what could not be read, and a cap that is too small", () => {
    expect(syncNote({ ...nothing, leftOut: 2 })).toBe("2 servers left out: tunnel limit of 15 reached.");
    expect(syncNote({ ...nothing, latenessMs: nothing.latenessMs.map(() => 20_000) })).toBe(
      "Checks start 20 s late: 50 at a time (maxWorkers) cannot keep the interval of 60 s.",
    );
    expect(
      syncNote({ ...nothing, badCount: 1, firstBad: { at: 4, reason: "this is no link" }, unsupported: { ssr: 2 } }),
    ).toBe("1 entry could not be read (entry 4: this is no link). 2 entries of kinds that are not supported: ssr.");
  });
});
