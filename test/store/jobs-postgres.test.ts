/** Jobs and the monthly quota on a real PostgreSQL. */
import { afterAll } from "vitest";
import { jobSuite } from "../../testkit/store/jobs.suite.ts";
import { isMissing, withServer } from "../servers/missing.ts";
import { startPostgres } from "../servers/postgres.ts";

const server = await startPostgres();

afterAll(async () => {
  if (!isMissing(server)) await server.stop();
});

withServer("PostgreSQL", server, (running) => {
  jobSuite("PostgreSQL", {
    async make() {
      const database = await running.createDatabase();
      return { location: { url: database.url }, remove: () => database.drop() };
    },
  });
});
