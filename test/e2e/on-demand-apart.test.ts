/** Tests, retests and checks on roles apart: asked at an API, handed out by a scheduler, run by a checker. */
import { afterAll } from "vitest";
import { startApart } from "../roles.ts";
import { isMissing, withServer } from "../servers/missing.ts";
import { startShared } from "../servers/shared.ts";
import { onDemandSuite } from "./on-demand.suite.ts";

const shared = await startShared();
afterAll(async () => {
  if (!isMissing(shared)) await shared.stop();
});

withServer("on demand on roles apart", shared, ({ stores }) =>
  onDemandSuite("roles apart", async () => ({ start: startApart(await stores()) })),
);
