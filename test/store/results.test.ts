/** The result store's suite against the embedded ClickHouse, through the official client and our HTTP front. */
import { createClient } from "@clickhouse/client";
import { expect, it } from "vitest";
import { ClickHouseResults } from "../../store/results/clickhouse.ts";
import { resultStoreSuite, rowOf, segmentOf } from "../../store/results/result-store.suite.ts";
import { SILENT, startTestClickHouse } from "./embedded.ts";

resultStoreSuite("result store on the embedded ClickHouse", {
  async make() {
    const clickhouse = await startTestClickHouse();
    const store = new ClickHouseResults({ url: clickhouse.url, log: SILENT });
    return {
      store,
      async remove() {
        await store.close();
        await clickhouse.remove();
      },
    };
  },
});

it("tables of an earlier version sync what is inserted, after the next start", async () => {
  const clickhouse = await startTestClickHouse();
  const url = new URL(clickhouse.url);
  url.pathname = "";
  const client = createClient({ url });
  const synced = async () => {
    const answer = await client.query({
      query: `SELECT name FROM system.tables WHERE database = 'sonde'
              AND position(create_table_query, 'fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1') > 0 ORDER BY name`,
      format: "JSONEachRow",
    });
    return (await answer.json<{ name: string }>()).map(({ name }) => name);
  };
  const row = rowOf({ monitor_id: 1, seq: 1, tested_at: Date.now() });
  for (const token of ["made", "found"]) {
    const store = new ClickHouseResults({ url: clickhouse.url, log: SILENT });
    await store.insert(segmentOf(token, [row]));
    await store.close();
    expect(await synced()).toEqual(["hours", "recent", "results"]);
    if (token === "found") break;
    for (const table of ["hours", "recent", "results"])
      for (const setting of ["fsync_after_insert", "fsync_part_directory", "min_rows_to_fsync_after_merge"])
        await client.command({ query: `ALTER TABLE sonde.${table} RESET SETTING ${setting}` });
    expect(await synced()).toEqual([]);
  }
  await client.close();
  await clickhouse.remove();
});
