/**
 * Schemathesis walks through the live service with its own document: it makes up requests from the schemas, follows the links from what
 * it made, and judges status, media type, headers and body. In a network namespace of its own, because the monitors it makes up are
 * checked: nothing of it may leave this machine.
 */
import { spawn } from "node:child_process";
import { copyFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, it } from "vitest";
import { temporaryFolder } from "../../testkit/temporary-folder.ts";
import { ip, removeNamespace, sweepNamespaces } from "../namespaces.ts";
import { describeWith } from "../prerequisites.ts";
import { cleanUp, type RunningService, startService } from "../service.ts";
import { pythonModule } from "./python-tools.ts";

const CONFIG = fileURLToPath(new URL("schemathesis.toml", import.meta.url));
const HOOKS = fileURLToPath(new URL("hooks.py", import.meta.url));
/** At least three minutes where it counts; long enough to be of use where a developer waits. */
const SECONDS = process.env.CI === "true" ? 185 : 45;
/** Its start, the phase that is not bounded, and the last request. */
const MARGIN_S = 120;
const PREFIX = "sonde-fuzz-";
const NAMESPACE = `${PREFIX}${process.pid}`;

const inside = ["ip", "netns", "exec", NAMESPACE];

describeWith(["python tools", "network namespaces"], "schemathesis", () => {
  let service: RunningService;
  beforeAll(async () => {
    sweepNamespaces(PREFIX);
    ip("netns", "add", NAMESPACE);
    ip("-n", NAMESPACE, "link", "set", "lo", "up");
    const plans = join(temporaryFolder(), "plans.json");
    const unlimited = { requestsPerMinute: null, requestsPerDay: null, requestsPerMonth: null };
    writeFileSync(plans, JSON.stringify({ business: { ...unlimited, shortestIntervalS: 1 } }));
    service = await startService({
      command: [...inside, process.execPath],
      env: { SONDE_PLANS: plans, SONDE_TRUSTED_PROXIES: "127.0.0.0/8", SONDE_CANARIES: "", SONDE_LOG: "warn" },
    });
  });
  afterAll(async () => {
    await cleanUp();
    removeNamespace(NAMESPACE);
  });

  it("finds nothing", { timeout: (SECONDS + MARGIN_S + 30) * 1_000, retry: 0 }, async () => {
    const key = service.firstKey ?? "";
    const { command, env } = pythonModule("schemathesis.cli");
    // It takes as much as it gets until its time is over: what other tests need comes first.
    const [program = "", ...words] = ["nice", "-n", "5", ...inside, ...command];
    // It keeps what it found beside its settings, so it has a copy of them.
    const folder = temporaryFolder();
    const config = join(folder, "schemathesis.toml");
    copyFileSync(CONFIG, config);
    const run = ["--config-file", config, "run", `${service.url}/openapi.json`, "--header", `X-API-Key: ${key}`];
    const bounds = ["--max-time", String(SECONDS), "--no-color", "--generation-database", "none"];
    const child = spawn(program, [...words, ...run, ...bounds], {
      cwd: folder,
      env: {
        ...process.env,
        ...env,
        SCHEMATHESIS_HOOKS: HOOKS,
        SONDE_TEST_KEY: key,
        // Nothing is written beside the sources.
        PYTHONDONTWRITEBYTECODE: "1",
      },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const late = setTimeout(() => child.kill("SIGKILL"), (SECONDS + MARGIN_S) * 1_000);
    let output = "";
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding("utf8").on("data", (text) => (output += text));
    const code = await new Promise((resolve) => child.once("close", resolve));
    clearTimeout(late);
    const summary = output.slice(output.lastIndexOf("= SUMMARY ="));
    console.log(`schemathesis:${summary.slice(summary.indexOf("\n"))}`);
    expect([code, code === 0 ? "" : output.slice(-20_000)]).toEqual([0, ""]);
    expect(Number(/(\d+) generated/.exec(output)?.[1])).toBeGreaterThan(500);
    // Its own key still works, so what it saw was not only 401.
    expect(service.child.exitCode).toBeNull();
    expect(service.output()).not.toMatch(/"level":(50|60)/);
  });
});
