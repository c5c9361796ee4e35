/** Of rolling-restart.ts, which is run by hand (docs/develop/tests.md). */
import { defineConfig } from "vitest/config";

// biome-ignore lint/style/noDefaultExport: vitest reads its configuration from the default export
export default defineConfig({
  test: {
    include: ["test/faults/rolling-restart.ts"],
    setupFiles: ["testkit/folders-end.ts"],
    pool: "forks",
    testTimeout: 600_000,
    hookTimeout: 240_000,
  },
});
