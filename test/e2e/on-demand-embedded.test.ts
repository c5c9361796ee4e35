/** Tests, retests and checks on what a fresh clone has: SQLite, state in process. */
import { onDemandSuite } from "./on-demand.suite.ts";

onDemandSuite("embedded stores", async () => ({}));
