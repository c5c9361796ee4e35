import { defineConfig } from "vitest/config";

// biome-ignore lint/style/noDefaultExport: vitest reads its configuration from the default export
export default defineConfig({
  test: {
    // Embedded ClickHouse and native modules do not survive the end of a worker thread.
    pool: "forks",
    include: ["{model,native,engine,store,scheduler,api,cli,demo,bench}/**/*.test.ts", "test/**/*.test.ts", "*.test.ts"],
    testTimeout: 30_000,
    hookTimeout: 120_000,
  },
});
