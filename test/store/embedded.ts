/** The embedded ClickHouse for tests, from dist, in a folder of its own. */
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { pino } from "pino";
import { EmbeddedClickHouse, type EmbeddedOptions } from "../../store/results/embedded/child.ts";

const FRONT_FILE = new URL("../../dist/store/results/embedded/front.js", import.meta.url);
export const SILENT = pino({ level: "silent" });

export interface TestClickHouse extends EmbeddedClickHouse {
  readonly dir: string;
  /** Stops it and removes its folder. */
  remove(): Promise<void>;
}

export async function startTestClickHouse(overrides: Partial<EmbeddedOptions> = {}): Promise<TestClickHouse> {
  if (!existsSync(FRONT_FILE)) throw new Error(`${fileURLToPath(FRONT_FILE)} is missing: run \`npm run build\` first`);
  const dir = overrides.dir ?? mkdtempSync(join(tmpdir(), "sonde-clickhouse-"));
  const embedded = await EmbeddedClickHouse.start({
    log: SILENT,
    frontFile: FRONT_FILE,
    ballastBytes: 1024 * 1024,
    ...overrides,
    dir,
  });
  await embedded.ready;
  return Object.assign(embedded, {
    dir,
    async remove() {
      await embedded.close();
      if (overrides.dir === undefined) rmSync(dir, { recursive: true, force: true });
    },
  });
}
