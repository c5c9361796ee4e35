import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { LiveState } from "../../model/status.ts";
import type { MonitorFilter, MonitorWithLive } from "../../store/sql/monitors/port.ts";
import { ListPages, type WordRows } from "./list-pages.ts";

interface Row {
  readonly id: number;
  name: string;
  seq: number;
}

const FILTER: MonitorFilter = {
  ...{ family: "all", activeOnly: false, status: null, protocol: null, nameContains: null },
  ...{ limit: 3, offset: 0 },
};

/** A control plane of one project. What is known of checks runs ahead of it, as the feed of rows does. */
class Plane {
  readonly rows: Row[] = [1, 2, 3, 4, 5, 6, 7].map((id) => ({ id, name: `monitor ${id}`, seq: 0 }));
  readonly newest = new Map<number, number>();
  readonly reads = { list: 0, ids: 0, findAll: 0, lives: 0 };
  generation = 1;
  stamp = 1;
  nowMs = 1_000_000;
  readonly #hasStamp: boolean;
  readonly pages: ListPages;

  constructor(hasStamp: boolean) {
    this.#hasStamp = hasStamp;
    this.pages = new ListPages({
      auth: { stamp: () => (this.#hasStamp ? this.stamp : null), generation: () => this.generation },
      newestSeq: (id) => this.newest.get(id),
      monitors: {
        list: async (_project, filter) => {
          this.reads.list++;
          return { rows: this.#page(filter).map(withLive), total: this.rows.length };
        },
        ids: async () => {
          this.reads.ids++;
          return this.rows.map(({ id }) => id);
        },
        findAll: async (_project, ids) => {
          this.reads.findAll += ids.length;
          return this.rows.filter(({ id }) => ids.includes(id)).map(withLive);
        },
        lives: async (_project, ids) => {
          this.reads.lives += ids.length;
          return this.rows.filter(({ id }) => ids.includes(id)).map((row) => withLive(row).live);
        },
      },
    });
  }

  #page({ limit, offset }: MonitorFilter): readonly Row[] {
    return this.rows.slice(offset, offset + limit);
  }

  /** What a caller gets. */
  async ask(more: Partial<MonitorFilter> = {}): Promise<string> {
    const filter = { ...FILTER, ...more };
    const key = JSON.stringify(filter);
    const wanted = { key, projectId: 1, filter, shown: "all", nowMs: this.nowMs };
    const words: WordRows = async (rows) =>
      rows.map(({ monitor, live }) => {
        const rewrite = ({ seq }: Pick<LiveState, "seq">): Buffer => Buffer.from(`["${monitor.name}",${seq}]`);
        return { text: rewrite(live).toString(), holdsSecrets: false, rewrite: monitor.id % 3 === 0 ? null : rewrite };
      });
    const answer = this.pages.find(key, this.nowMs) ?? (await this.pages.make(wanted, words));
    return answer.body.toString();
  }

  truth(more: Partial<MonitorFilter> = {}): string {
    const rows = this.#page({ ...FILTER, ...more }).map(({ name, seq }) => `["${name}",${seq}]`);
    return `{"servers":[${rows.join(",")}],"total":${this.rows.length}}`;
  }

  know(id: number): void {
    this.newest.set(id, (this.rows.find((row) => row.id === id)?.seq ?? 0) + 1);
  }

  check(id: number): void {
    const row = this.rows.find((one) => one.id === id);
    if (row === undefined) return;
    row.seq += 1;
    this.newest.set(id, Math.max(row.seq, this.newest.get(id) ?? 0));
    this.stamp += 1;
  }

  change(act: () => void): void {
    act();
    this.generation += 1;
    this.stamp += 1;
  }
}

function withLive({ id, name, seq }: Row): MonitorWithLive {
  return { monitor: { id, name }, live: { monitorId: id, seq } } as MonitorWithLive;
}

describe("pages of the list of monitors", () => {
  it("are those that the database has, whatever happens in between", async () => {
    const id = fc.integer({ min: 1, max: 7 });
    const step = fc.oneof(
      fc.record({ type: fc.constantFrom("know", "check", "rename", "remove"), id }),
      fc.record({ type: fc.constant("ask"), offset: fc.constantFrom(0, 3, 6, 9) }),
      fc.record({ type: fc.constant("pass"), ms: fc.integer({ min: 0, max: 1_200 }) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.boolean(), fc.array(step, { maxLength: 40 }), async (hasStamp, steps) => {
        const plane = new Plane(hasStamp);
        for (const one of steps) {
          if ("ms" in one) plane.nowMs += one.ms;
          else if ("offset" in one)
            expect(await plane.ask({ offset: one.offset })).toBe(plane.truth({ offset: one.offset }));
          else if (one.type === "know") plane.know(one.id);
          else if (one.type === "check") plane.check(one.id);
          else if (one.type === "rename")
            plane.change(() => {
              for (const row of plane.rows) if (row.id === one.id) row.name += "'";
            });
          else plane.change(() => void plane.rows.splice(one.id % plane.rows.length || 0, 1));
        }
      }),
      { numRuns: 300 },
    );
  });

  it("read what has changed, and nothing when nothing has", async () => {
    const plane = new Plane(true);
    for (const { id } of plane.rows) plane.check(id);
    await plane.ask();
    await plane.ask();
    expect(plane.reads).toEqual({ list: 1, ids: 0, findAll: 0, lives: 0 });
    plane.check(7);
    await plane.ask();
    expect(plane.reads).toEqual({ list: 1, ids: 0, findAll: 0, lives: 0 });
    plane.check(2);
    await plane.ask();
    expect(plane.reads).toEqual({ list: 1, ids: 1, findAll: 0, lives: 1 });
    await plane.ask({ offset: 3 });
    expect(plane.reads).toEqual({ list: 1, ids: 1, findAll: 3, lives: 1 });
  });

  it("are read anew after a second, and where checks move their order", async () => {
    const plane = new Plane(true);
    await plane.ask();
    plane.nowMs += 1_000;
    await plane.ask();
    expect(plane.reads).toEqual({ list: 1, ids: 1, findAll: 1, lives: 2 });
    for (const more of [{ sort: "latency" }, { status: "down" }, { order: "desc" }] as const) {
      const before = plane.reads.list;
      await plane.ask(more);
      await plane.ask(more);
      expect(plane.reads.list).toBe(before + 2);
    }
  });

  it("hold secrets when one of their rows does, and have the tag of their body", async () => {
    const { pages } = new Plane(true);
    const wanted = { key: "k", projectId: 1, filter: FILTER, shown: "all", nowMs: 1 };
    const plain = await pages.make(wanted, async (rows) => rows.map(() => ({ text: "1", holdsSecrets: false })));
    expect(plain).toMatchObject({ status: 200, tag: expect.stringMatching(/^W\/"/) });
    expect(plain).not.toHaveProperty("holdsSecrets");
    const words: WordRows = async (rows) => rows.map((_, at) => ({ text: "1", holdsSecrets: at === 1 }));
    expect(await pages.make({ ...wanted, shown: "some" }, words)).toMatchObject({ holdsSecrets: true });
  });
});
