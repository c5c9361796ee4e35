/** The thread of syncs: one that dies is started again, and what waited is done. */
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, expect, it } from "vitest";
import { startProvider } from "../engine/subscription/provider-server.suite.ts";
import { cleanUp, temporaryFolder } from "./service.ts";

const HOLDER = fileURLToPath(new URL("./fixtures/syncs-holder.mjs", import.meta.url));
const WITHIN_MS = 60_000;

afterAll(cleanUp);

it("the thread of syncs is started again when it dies, and ends when it is told to", {
  timeout: WITHIN_MS,
}, async () => {
  const provider = await startProvider();
  provider.answer("/list", "vless://5ec2e700-1111-4222-8333-444455556666@127.0.0.1:9#n");
  const args = [HOLDER, temporaryFolder(), provider.url("/list")];
  const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: WITHIN_MS - 5_000 });
  expect(stdout.trim().split("\n").at(0)).toBe("the thread of syncs has died and is started again");
  expect(stdout.trim().split("\n").at(-1)).toBe("success");
  await provider.close();
});
