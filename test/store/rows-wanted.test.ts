/** Few results wait ten seconds for an insert into the embedded ClickHouse, unless they are about to be read. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createMonitor, type Product, startProduct } from "../product.ts";
import { cleanUp, eventually } from "../service.ts";
import { startWebsite, type Website } from "../targets.ts";

interface Results {
  readonly results: readonly { readonly id: string }[];
}

/** The first result is inserted at once. With one a second the others of these wait for the insert ten seconds later. */
const WAITING = 4;

describe("few results that wait for an insert", () => {
  let product: Product;
  let website: Website;

  beforeAll(async () => {
    [product, website] = await Promise.all([startProduct(), startWebsite()]);
  }, 60_000);
  afterAll(async () => {
    await website?.close();
    await cleanUp();
  });

  it("are in the store for the first read that asks it", async () => {
    const { api } = product;
    const id = await createMonitor(api, { type: "http", name: "Few", url: website.url, interval: 1 });
    const idsOf = async (query: string): Promise<readonly string[]> => {
      const { body } = await api.get<Results>(`/results/server/${id}?limit=100${query}`);
      return body.results.map((row) => row.id);
    };
    // From memory, where a result is at once.
    const inMemory = await eventually(async () => {
      const ids = await idsOf("");
      return ids.length > WAITING ? ids : undefined;
    });
    const stored = await idsOf("&explain=1");
    // The newest one may be on its way.
    expect(stored).toEqual(expect.arrayContaining(inMemory.slice(1)));
  });
});
