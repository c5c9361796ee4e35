import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test, vi } from "vitest";
import { temporaryFolder } from "../../testkit/temporary-folder.ts";
import { type RunOptions, runImport } from "./run.ts";

let folder = "";
beforeAll(() => {
  folder = temporaryFolder();
});

const options = (out: string, more: Partial<RunOptions> = {}): RunOptions => ({
  out: join(folder, out),
  report: "md",
  secrets: true,
  ...more,
});

/** What it says while it runs. */
async function said(run: () => Promise<void>): Promise<string> {
  const write = vi.spyOn(process.stdout, "write").mockReturnValue(true);
  try {
    await run();
    return write.mock.calls.map(([text]) => String(text)).join("");
  } finally {
    write.mockRestore();
  }
}

const GATUS =
  'endpoints:\n  - { name: a, url: "https://www.test-site.org/", headers: { X-Key: "s3cret" }, conditions: ["[STATUS] == 200"] }\n';

test("writes a document that only its owner can read, and never over a file", async () => {
  const path = join(folder, "config.yaml");
  writeFileSync(path, GATUS);
  const report = await said(() => runImport("gatus", [path], options("a.yaml")));
  expect(statSync(join(folder, "a.yaml")).mode & 0o777).toBe(0o600);
  expect(readFileSync(join(folder, "a.yaml"), "utf8")).toContain("X-Key: s3cret");
  expect(report).toContain("1 monitor");
  expect(report).toContain(`sonde apply ${join(folder, "a.yaml")} --plan`);
  expect(report).not.toContain("s3cret");
  await expect(runImport("gatus", [path], options("a.yaml"))).rejects.toThrow(
    "a.yaml exists already: --out names another file",
  );
});

test("--no-secrets leaves variables in their place", async () => {
  const path = join(folder, "secret.yaml");
  writeFileSync(
    path,
    `${GATUS}external-endpoints: []\nalerting: { slack: { webhook-url: "https://hooks.test-site.org/t0ken" }, custom: { url: "https://hooks.test-site.org/", headers: { X-Token: t0ken } } }\n`.replace(
      "conditions:",
      "alerts: [{ type: slack }, { type: custom }], conditions:",
    ),
  );
  const report = JSON.parse(
    await said(() => runImport("gatus", [path], options("b.yaml", { secrets: false, report: "json" }))),
  );
  expect(report).toMatchObject({
    source: "Gatus",
    counts: { monitors: 1, channels: 2 },
    variables: ["A_HEADERS_X_KEY", "SLACK_URL", "CUSTOM_URL", "CUSTOM_SECRETS_HEADER_X_TOKEN"],
  });
  const text = readFileSync(join(folder, "b.yaml"), "utf8");
  expect(text).toContain(`X-Key: \${env:A_HEADERS_X_KEY}`);
  expect(text).not.toMatch(/s3cret|t0ken/);
});

test("a folder's files and the files that they name are read, those outside are not", async () => {
  const place = join(folder, "prometheus");
  mkdirSync(join(place, "targets"), { recursive: true });
  writeFileSync(join(folder, "outside.yml"), '- targets: ["https://outside.test-site.org/"]\n');
  writeFileSync(
    join(place, "targets", "web.json"),
    '[{"targets": ["https://in.test-site.org/"], "labels": {"team": "Web"}}]',
  );
  writeFileSync(
    join(place, "prometheus.yml"),
    'scrape_configs: [{ job_name: web, metrics_path: /probe, params: { module: [http_2xx] }, file_sd_configs: [{ files: ["targets/web.json", "../outside.yml", "/etc/hostname"] }] }]\n',
  );
  const report = await said(() => runImport("blackbox", [join(place, "prometheus.yml")], options("c.yaml")));
  const text = readFileSync(join(folder, "c.yaml"), "utf8");
  expect(text).toContain("url: https://in.test-site.org/");
  expect(text).toContain("- team:web");
  expect(text).not.toContain("outside");
  expect(report).toContain("the targets of ../outside.yml: name that file, too");
});

test("what cannot be read is one line with the file's name", async () => {
  await expect(runImport("nagios", ["x"], options("d.yaml"))).rejects.toThrow(
    "nagios is no source: it must be one of kuma, gatus,",
  );
  await expect(runImport("gatus", [join(folder, "none.yaml")], options("d.yaml"))).rejects.toThrow(
    "none.yaml: it cannot be read (ENOENT)",
  );
  writeFileSync(join(folder, "broken.yaml"), "endpoints:\n  - name: a\n   url: x\n");
  await expect(runImport("gatus", [join(folder, "broken.yaml")], options("d.yaml"))).rejects.toThrow(
    /broken\.yaml: line 3: it is YAML that cannot be read/,
  );
  await expect(runImport("gatus", ["/dev/zero"], options("d.yaml"))).rejects.toThrow(
    "/dev/zero: it is larger than 16 MiB; split it",
  );
  writeFileSync(join(folder, "huge.json"), " ".repeat(17 * 1024 * 1024));
  await expect(runImport("kuma", [join(folder, "huge.json")], options("d.yaml"))).rejects.toThrow(
    "huge.json: it is larger than 16 MiB",
  );
});
