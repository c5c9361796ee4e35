/** The end-to-end suite on roles apart: an API, a scheduler and a checker, each a process of its own. */
import { afterAll } from "vitest";
import { startApart } from "../roles.ts";
import { isMissing, withServer } from "../servers/missing.ts";
import { startShared } from "../servers/shared.ts";
import { uptimeSuite } from "./uptime.suite.ts";

const shared = await startShared();
afterAll(async () => {
  if (!isMissing(shared)) await shared.stop();
});

withServer("uptime monitoring on roles apart", shared, ({ stores }) =>
  uptimeSuite("roles apart", async () => ({ start: startApart(await stores()) })),
);
