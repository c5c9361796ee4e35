/** The result store's suite against the embedded ClickHouse, through the official client and our HTTP front. */
import { ClickHouseResults } from "../../store/results/clickhouse.ts";
import { resultStoreSuite } from "../../store/results/result-store.suite.ts";
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
