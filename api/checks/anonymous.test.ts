import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { VERDICTS } from "../../model/verdict.ts";
import type { Target, Targets } from "../monitors/targets.ts";
import { acceptAnonymousTargets, anonymousMessage, isInnerName, TARGET_REFUSED } from "./anonymous.ts";

const SECRET = "10.0.0.53:5432";

describe("acceptAnonymousTargets", () => {
  function targetsThatRefuse(refused: readonly string[]) {
    const judged: string[] = [];
    const targets: Targets = {
      accept: async () => {},
      async refusal({ host }) {
        judged.push(host);
        return refused.includes(host) ? `${host} is a private address (${SECRET})` : undefined;
      },
    };
    return { targets, judged };
  }
  const at = (...hosts: readonly string[]): readonly Target[] => hosts.map((host) => ({ host, port: 443 }));

  it("takes targets that may be dialled", async () => {
    const { targets } = targetsThatRefuse([]);
    await expect(acceptAnonymousTargets(targets, at("a.dev", "198.51.100.7"), false)).resolves.toBeUndefined();
  });

  it("judges all of them, and says in one text that one is refused", async () => {
    for (const hosts of [
      ["10.0.0.1", "a.dev"],
      ["a.dev", "10.0.0.1"],
      ["db.internal", "a.dev"],
    ]) {
      const { targets, judged } = targetsThatRefuse(["10.0.0.1"]);
      const refusal = acceptAnonymousTargets(targets, at(...hosts), false);
      await expect(refusal).rejects.toMatchObject({ status: 422, message: TARGET_REFUSED });
      expect(judged).toContain("a.dev");
    }
  });

  it("leaves inner names to their addresses where the operator opens networks for these callers", async () => {
    const { targets } = targetsThatRefuse([]);
    await expect(acceptAnonymousTargets(targets, at("db.internal"), true)).resolves.toBeUndefined();
  });
});

describe("isInnerName", () => {
  it("knows names that are given on private networks only", () => {
    const inner = ["postgres", "db.internal", "a.b.local", "nas.home.arpa", "1.0.0.10.in-addr.arpa", "x.lan"];
    for (const host of inner) expect([host, isInnerName(host)]).toEqual([host, true]);
    for (const host of ["vpn.test-site.org", "local.dev", "home.org", "198.51.100.7", "2001:db8::1", "a.arpa"]) {
      expect([host, isInnerName(host)]).toEqual([host, false]);
    }
  });
});

describe("anonymousMessage", () => {
  it("shows of a fault of ours, and of what a core says about itself, nothing that they hold", () => {
    const own = ["unfit", "unsupported", "cancelled", "internal-error"] as const;
    fc.assert(
      fc.property(fc.constantFrom(...own), fc.string(), (verdict, before) => {
        expect(anonymousMessage({ verdict, message: before + SECRET })).not.toContain(SECRET);
      }),
    );
    fc.assert(
      fc.property(fc.constantFrom(...VERDICTS), fc.string(), (verdict, after) => {
        const message = `xray refuses the config: ${after}${SECRET}`;
        expect(anonymousMessage({ verdict, message })).not.toContain(SECRET);
      }),
    );
    expect(anonymousMessage({ verdict: "ok", message: null })).toBeNull();
    expect(anonymousMessage({ verdict: "auth-failed", message: "the login was refused" })).toBe(
      "the login was refused",
    );
  });
});
