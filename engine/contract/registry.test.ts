import { describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { CONTRACT_KINDS, familyOf, isPassive, TUNNEL_PROTOCOLS } from "../../model/kind.ts";
import { chooseEngines } from "../cores/choice.ts";
import { parseProxyLink } from "../protocols/share-link/proxy-link.ts";
import type { AnyKind } from "./kind.ts";
import type { ProbeContext } from "./probe.ts";
import { fieldsOf, KINDS, kindNamed, parse, probeList, settingsOf, tunnels, uptimeKinds } from "./registry.ts";

const TARGET = { host: "127.0.0.1", port: 4_711 };

/** What the document says of a field, whether it is optional or not. */
function wordsOf(schema: z.ZodType): string | undefined {
  return (
    schema.description ?? (schema instanceof z.ZodOptional ? (schema.unwrap() as z.ZodType).description : undefined)
  );
}

describe("kinds", () => {
  it("are the contract's first, then those beside it by name, then tunnels", () => {
    const added = KINDS.slice(CONTRACT_KINDS.length, -TUNNEL_PROTOCOLS.length);
    expect(KINDS).toEqual([...CONTRACT_KINDS, ...[...added].sort(), ...TUNNEL_PROTOCOLS]);
    expect(new Set(KINDS).size).toBe(KINDS.length);
  });

  it.each(KINDS)("%s is described under its own name, and as the rules know it", (kind) => {
    const described = kindNamed(kind);
    expect(described?.kind).toBe(kind);
    expect(described?.family).toBe(familyOf(kind));
    expect(described?.isPassive).toBe(isPassive(kind));
    expect(described?.summary).toMatch(/^[A-Z].*: [a-z].*[^.]$/);
  });

  it.each(KINDS)("%s has an example that its schema takes, and takes again", (kind) => {
    const schema = settingsOf(kind);
    const once = schema?.parse(kindNamed(kind)?.example);
    expect(schema?.parse(once)).toEqual(once);
  });

  it("have code to run, all but heartbeats; words that every object knows are no kinds", () => {
    const probes = probeList();
    expect(Object.keys(probes).sort()).toEqual(KINDS.filter((kind) => !isPassive(kind)).sort());
    for (const [kind, { settings }] of Object.entries(probes)) expect(settingsOf(kind)).toBe(settings);
    for (const word of ["constructor", "__proto__", "toString", "wireguard2", ""]) {
      expect([kindNamed(word), settingsOf(word)]).toEqual([undefined, undefined]);
    }
  });
});

it("says nothing of the program's folder where a kind's code cannot be loaded, and leaves the reason to the log once", async () => {
  const cause = new Error("Cannot find module '/opt/sonde/chunks/x.js'");
  const [port] = uptimeKinds.filter(({ kind }) => kind === "port");
  const { port: probe } = probeList([{ ...port, load: () => Promise.reject(cause) } as AnyKind]);
  const strays: unknown[] = [];
  const hear = (reason: unknown): number => strays.push(reason);
  process.on("unhandledRejection", hear);
  try {
    for (const _ of [1, 2]) {
      const fault = await Promise.resolve(probe?.run({}, {} as ProbeContext)).catch((error: unknown) => error);
      expect(fault).toMatchObject({ verdict: "internal-error", message: expect.not.stringContaining("/") });
    }
    await vi.waitFor(() => expect(strays).toEqual([cause]));
  } finally {
    process.off("unhandledRejection", hear);
  }
});

describe("uptime kinds", () => {
  it.each(uptimeKinds.map((described) => [described.kind, described] as const))(
    "%s: every field is described, and its address, target and demo go together",
    (_kind, described) => {
      const fields = Object.entries(fieldsOf(described));
      expect(fields.length).toBeGreaterThan(0);
      for (const [field, schema] of fields) expect([field, wordsOf(schema)]).toEqual([field, expect.any(String)]);
      for (const field of described.unnamedFields ?? []) expect(fields.map(([name]) => name)).toContain(field);
      if (described.isPassive) return;
      expect(described.target(described.settings.parse(described.example)).host).toMatch(
        /^(www\.test-site\.org|1\.1\.1\.1)$/,
      );
      const { address, demo } = described;
      for (const scheme of address?.schemes ?? []) {
        const read = address?.read(`${scheme}://test-site.org:4711`) ?? address?.read(`${scheme}://test-site.org`);
        expect(described.target(described.settings.parse(read?.settings)).host).toBe("test-site.org");
      }
      if (demo !== null)
        expect(described.target(described.settings.parse(demo.settings(TARGET))).host).toBe(TARGET.host);
    },
  );

  it("never share a scheme", () => {
    const schemes = uptimeKinds.flatMap((one) => (one.isPassive ? [] : (one.address?.schemes ?? [])));
    expect(new Set(schemes).size).toBe(schemes.length);
  });
});

describe("tunnels", () => {
  it.each(tunnels.map((described) => [described.kind, described] as const))(
    "%s: its parser reads the fields that it names, and tells an account where there is one",
    (kind, { example, fields, account }) => {
      const parsed = parse(kind, example);
      expect(fields).toEqual(expect.arrayContaining(Object.keys(parsed.fields)));
      expect(parsed.protocol).toBe(kind);
      expect(parsed.identity === null).toBe(account === null);
    },
  );

  it("that are share links name their schemes, and the cores that can run them", () => {
    for (const { kind, form, example } of tunnels) {
      if (form.by !== "link") continue;
      const { config } = parseProxyLink(String(example.url));
      expect([kind, config.account.protocol]).toEqual([kind, kind]);
      expect([kind, [...chooseEngines(config, null).engines].sort()]).toEqual([kind, [...form.cores].sort()]);
      for (const scheme of form.schemes) {
        const link = String(example.url).replace(/^[a-z0-9]+/, scheme);
        expect(parse(kind, { url: link }).protocol).toBe(kind);
      }
    }
  });
});
