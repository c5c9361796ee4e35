/** Subscriptions on roles apart: made at an API, fetched and judged by a scheduler, their configs tested by a checker. */
import { afterAll } from "vitest";
import { startApart } from "../roles.ts";
import { isMissing, withServer } from "../servers/missing.ts";
import { startShared } from "../servers/shared.ts";
import { subscriptionsSuite } from "./subscriptions.suite.ts";

const shared = await startShared();
afterAll(async () => {
  if (!isMissing(shared)) await shared.stop();
});

withServer("subscriptions on roles apart", shared, ({ stores }) =>
  subscriptionsSuite("roles apart", async () => startApart(await stores()), false),
);
