/** The operator's acts beside roles apart: what they change holds in an API at its next request, and in a scheduler and a checker that go on. */
import { afterAll } from "vitest";
import { productEnv } from "../product.ts";
import { installation } from "../roles.ts";
import { isMissing, withServer } from "../servers/missing.ts";
import { startShared } from "../servers/shared.ts";
import { adminSuite } from "./admin.suite.ts";

const shared = await startShared();
afterAll(async () => {
  if (!isMissing(shared)) await shared.stop();
});

withServer("sonde admin on roles apart", shared, ({ stores }) =>
  adminSuite(
    "roles apart",
    async () => {
      const whole = installation(await stores(), productEnv());
      let areStarted = false;
      return {
        env: whole.env,
        // Only the API is ever started again.
        async start(settings) {
          const api = await whole.startApi(settings);
          if (!areStarted) await Promise.all([whole.startScheduler(), whole.startChecker("any")]);
          areStarted = true;
          return api;
        },
      };
    },
    "apart",
  ),
);
