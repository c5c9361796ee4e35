/** The end-to-end suite on what a fresh clone has: SQLite, counters in process, embedded ClickHouse. */
import { uptimeSuite } from "./uptime.suite.ts";

uptimeSuite("embedded stores", async () => ({}));
