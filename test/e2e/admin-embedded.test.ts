/** The operator's acts on the embedded stores. */
import { adminSuite } from "./admin.suite.ts";

adminSuite("embedded stores", async () => ({ env: {} }), "all");
