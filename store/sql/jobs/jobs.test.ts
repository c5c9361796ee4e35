import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { jobSuite } from "../../../testkit/store/jobs.suite.ts";

jobSuite("SQLite", {
  async make() {
    const folder = mkdtempSync(join(tmpdir(), "sonde-jobs-"));
    const remove = async (): Promise<void> => rmSync(folder, { recursive: true, force: true });
    return { location: { file: join(folder, "sonde.db") }, remove };
  },
});
