import { mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ConfigError, forgetSecrets, loadClientConfig, loadConfig, loadCorePaths } from "./config.ts";
import { STANDARD_CAPS } from "./model/caps.ts";
import { temporaryFolder } from "./testkit/temporary-folder.ts";

const credentials = temporaryFolder();

describe("the sealing key's place", () => {
  it("is what was set, then the service manager's credential, then the data folder", () => {
    const env = { CREDENTIALS_DIRECTORY: credentials };
    expect(loadConfig(env).sealingKeyFile).toBeNull();
    for (const none of ["", "none", "none\n"]) {
      writeFileSync(join(credentials, "sealing.key"), none);
      expect(loadConfig(env).sealingKeyFile).toBeNull();
    }
    writeFileSync(join(credentials, "sealing.key"), "k");
    expect(loadConfig(env).sealingKeyFile).toBe(join(credentials, "sealing.key"));
    expect(loadConfig({ ...env, SONDE_SEALING_KEY_FILE: "/set" }).sealingKeyFile).toBe("/set");
    const shared = { ...env, SONDE_DATABASE_URL: "postgres://db/sonde" };
    expect(loadConfig(shared).sealingKeyFile).toBe(join(credentials, "sealing.key"));
    expect(() => loadConfig({ SONDE_DATABASE_URL: "postgres://db/sonde" })).toThrow(/SONDE_SEALING_KEY_FILE/);
  });
});

it("a credential that cannot be read ends the start, with its name", () => {
  const folder = join(credentials, "broken");
  mkdirSync(folder);
  symlinkSync("sealing.key", join(folder, "sealing.key"));
  expect(() => loadConfig({ CREDENTIALS_DIRECTORY: folder })).toThrow(
    new ConfigError(`the credential ${join(folder, "sealing.key")} cannot be read (ELOOP)`),
  );
});

it("the key of a checker's location is the service manager's credential, if there is one", () => {
  const env = { CREDENTIALS_DIRECTORY: credentials };
  expect(loadConfig({}).locationKeyFile).toBeNull();
  writeFileSync(join(credentials, "location.key"), "none");
  expect(loadConfig(env).locationKeyFile).toBeNull();
  writeFileSync(join(credentials, "location.key"), "one key\nanother");
  expect(loadConfig(env).locationKeyFile).toBe(join(credentials, "location.key"));
});

it("the base URL is an address that paths can be put behind", () => {
  const read = (url: string) => loadConfig({ SONDE_BASE_URL: url }).baseUrl;
  expect(read("https://sonde.test-site.org:8443/below/")).toBe("https://sonde.test-site.org:8443/below");
  expect(read("HTTP://[::1]:80")).toBe("HTTP://[::1]:80");
  for (const url of ["https://a/?b", "https://a#b", "https://ada:pw@a/", "https:a", "https:///a", "https://a b/"])
    expect(() => read(url), url).toThrow(/^SONDE_BASE_URL must be/);
});

it("a name that is no setting is refused by every command, with the one that was meant", () => {
  const env = { SONDE_PROT: "9000" };
  for (const load of [loadConfig, loadCorePaths, (variables: typeof env) => loadClientConfig({}, variables)]) {
    expect(() => load(env)).toThrow(new ConfigError("SONDE_PROT is no setting: is SONDE_PORT meant?"));
  }
  expect(() => loadConfig({ SONDE_INTERVAL: "5" })).toThrow(/no setting: docs\/use\/settings\.md lists them/);
  const others = { SONDE_URL: "http://127.0.0.1:1", SONDE_KEY: "k", SONDE_PROJECT: "prj_1", SONDE_TEST_SEED: "1" };
  expect(loadConfig({ ...others, SONDE_PORT: "9000" }).port).toBe(9_000);
});

describe("settings that are secrets", () => {
  it("are forgotten, and no others", () => {
    const env: Record<string, string> = {
      SONDE_DATABASE_URL: "postgres://u:p@db/sonde",
      SONDE_CLICKHOUSE_URL: "http://u:p@ch",
      SONDE_REDIS_URL: "redis://:p@r",
      SONDE_METRICS_TOKEN: "t",
      SONDE_SMTP_URL: "smtps://u:p@mail",
      SONDE_KEY: "k",
      SONDE_PORT: "1",
      PATH: "/bin",
    };
    forgetSecrets(env);
    expect(env).toEqual({ SONDE_PORT: "1", PATH: "/bin" });
  });

  it("leave us visible to others only where that was asked for", () => {
    expect(loadConfig({}).isDebuggable).toBe(false);
    expect(loadConfig({ SONDE_DEBUGGABLE: "1" }).isDebuggable).toBe(true);
    expect(() => loadConfig({ SONDE_DEBUGGABLE: "yes" })).toThrow("SONDE_DEBUGGABLE must be 0 or 1");
  });
});

describe("mail", () => {
  it("needs a server and a sender, both or neither", () => {
    expect(loadConfig({}).mail).toEqual({ smtpUrl: null, from: null });
    const set = { SONDE_SMTP_URL: "smtps://u:p%40@mail.test-site.org", SONDE_MAIL_FROM: "Sonde <sonde@test-site.org>" };
    expect(loadConfig(set).mail).toEqual({ smtpUrl: set.SONDE_SMTP_URL, from: set.SONDE_MAIL_FROM });
    expect(() => loadConfig({ SONDE_SMTP_URL: set.SONDE_SMTP_URL })).toThrow("belong together");
    expect(() => loadConfig({ SONDE_MAIL_FROM: set.SONDE_MAIL_FROM })).toThrow("belong together");
    for (const url of ["mail", "http://mail", "smtp://", "smtp://mail/path", "smtp://%zz@mail"]) {
      expect(() => loadConfig({ ...set, SONDE_SMTP_URL: url })).toThrow("SONDE_SMTP_URL must be smtps://");
    }
    for (const from of ["sonde", "a@b\nBcc: c@d", '"x" <a@b>', "a <b> <c@d>"]) {
      expect(() => loadConfig({ ...set, SONDE_MAIL_FROM: from })).toThrow("SONDE_MAIL_FROM must be");
    }
  });
});

describe("caps of checks in flight", () => {
  it("are the standard ones unless they are set", () => {
    expect(loadConfig({}).caps).toEqual(STANDARD_CAPS);
    const set = { SONDE_CHECKS_AT_ONCE: "65536", SONDE_CHECKS_PER_HOST: "1", SONDE_CHECKS_PER_WORKSPACE: "40" };
    expect(loadConfig(set).caps).toEqual({ overall: 65_536, perHost: 1, perWorkspace: 40 });
    for (const name of Object.keys(set)) {
      for (const bad of ["0", "65537", "many", "1.5", ""]) {
        expect(() => loadConfig({ [name]: bad })).toThrow(`${name} must be a whole number from 1 to 65536`);
      }
    }
  });
});

describe("limits of the plans", () => {
  const database = { SONDE_DATABASE_URL: "postgres://db/sonde", SONDE_SEALING_KEY_FILE: "/key" };
  const perMinute = (...input: Parameters<typeof loadConfig>) => loadConfig(...input).plans.business.requestsPerMinute;

  it("are the role's unless they are set; a command on the stores takes those of the usual role", () => {
    expect(perMinute({}, "off")).toBeNull();
    expect(perMinute({}, "contract")).toBe(120);
    expect(perMinute({})).toBeNull();
    expect(perMinute(database)).toBe(120);
    expect(perMinute({ SONDE_LIMITS: "contract" }, "off")).toBe(120);
    expect(perMinute({ ...database, SONDE_LIMITS: "off" }, "contract")).toBeNull();
    expect(() => loadConfig({ SONDE_LIMITS: "some" })).toThrow("SONDE_LIMITS must be off or contract");
  });

  it("are overridden by SONDE_PLANS", () => {
    const file = join(credentials, "plans.json");
    writeFileSync(file, JSON.stringify({ business: { shortestIntervalS: 5 } }));
    const plans = (limits: "off" | "contract") =>
      loadConfig({ SONDE_PLANS: file, SONDE_LIMITS: limits }).plans.business;
    expect(plans("off")).toMatchObject({ shortestIntervalS: 5, requestsPerMinute: null });
    expect(plans("contract")).toMatchObject({ shortestIntervalS: 5, requestsPerMinute: 120 });
  });
});

it.each([
  ["::1", "http://[::1]:9000"],
  ["[::1]", "http://[::1]:9000"],
  ["::", "http://[::1]:9000"],
  ["0.0.0.0", "http://127.0.0.1:9000"],
  ["localhost", "http://localhost:9000"],
])("a service that listens on %s is asked at %s", (host, url) => {
  expect(loadClientConfig({}, { SONDE_HOST: host, SONDE_PORT: "9000", SONDE_KEY: "k" }).url).toBe(url);
});

it.each([
  [{}, {}, "owner"],
  [{ url: "http://localhost:9000" }, {}, "owner"],
  [{}, { SONDE_URL: "http://127.0.0.1:9000" }, "owner"],
  [{ url: "http://[::1]:9000/" }, {}, "owner"],
  [{}, { SONDE_BASE_URL: "https://sonde.test-site.org" }, "owner"],
  [{ url: "https://sonde.test-site.org" }, {}, null],
  [{}, { SONDE_URL: "http://127.0.0.1.test-site.org" }, null],
  [{ url: "https://sonde.test-site.org", key: "given" }, {}, "given"],
] as const)("the owner key of ./data is sent to this machine alone: %j %j", (words, env, key) => {
  const before = process.cwd();
  const folder = mkdtempSync(join(credentials, "beside-"));
  mkdirSync(join(folder, "data"));
  writeFileSync(join(folder, "data", "owner.key"), "owner\n");
  try {
    process.chdir(folder);
    expect(loadClientConfig(words, env).key).toBe(key);
  } finally {
    process.chdir(before);
  }
  // A folder that is named goes with the address that is named.
  if (key === "owner") return;
  expect(loadClientConfig(words, { ...env, SONDE_DATA_DIR: join(folder, "data") }).key).toBe(key ?? "owner");
});

it("a first key that is there and cannot be read is told from one that is not there", () => {
  const folder = mkdtempSync(join(credentials, "data-"));
  expect(loadClientConfig({}, { SONDE_DATA_DIR: folder }).key).toBeNull();
  mkdirSync(join(folder, "owner.key"));
  expect(() => loadClientConfig({}, { SONDE_DATA_DIR: folder })).toThrow(
    /^cannot read the key in .*owner\.key \(EISDIR\): set SONDE_KEY/,
  );
});
