import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { UPTIME_KINDS, uptimeOf } from "../../engine/contract/registry.ts";
import type { UptimeKind } from "../../model/kind.ts";
import type { Monitor } from "../../model/monitor.ts";
import { PLANS } from "../../model/plan.ts";
import { must, mustEqual } from "../../testkit/must.ts";
import { assertProperty } from "../../testkit/property.ts";
import { readObject } from "../body.ts";
import { ApiError } from "../errors.ts";
import type { ApiRequest } from "../http.ts";
import { draftOfChange, draftOfNew, refuseShort, targetOf } from "./draft.ts";
import { TUNNEL_BODY_FIELDS } from "./fields.ts";
import { newToken } from "./token.ts";
import { changedFields, draftOfNewTunnel, draftOfTunnelChange } from "./tunnels.ts";

const GOOD: Readonly<Record<string, Record<string, unknown>>> = Object.fromEntries(
  UPTIME_KINDS.map((kind) => [kind, { name: "a", ...uptimeOf(kind).example }]),
);
const TUNNELS = [
  { url: "trojan://pw@a.test-site.org:443#n" },
  { protocol: "openconnect", host: "a.test-site.org", username: "u", password: "p" },
  { protocol: "openvpn", config: "client\nremote a.test-site.org 1194 udp\n<ca>\nx\n</ca>\n" },
];

const FIELDS = [
  "name",
  "type",
  "interval",
  "timeout",
  "maxretries",
  "tags",
  "active",
  "accepted_statuscodes",
  "ssl_expiration",
  "domain_expiration",
  "ip_version",
  "keyword",
  "invert_keyword",
  "domain",
  "period",
  "grace",
  "__proto__",
  "constructor",
  "unknown",
  ...TUNNEL_BODY_FIELDS,
];

const anyValue = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  fc.constantFrom<unknown>(
    "",
    " ",
    "\u0000",
    "\ud800",
    "https://x.test-site.org/",
    "http://[::1]/",
    "http://user:pw@h/",
    "https://é.test-site.org:0/",
    "a".repeat(9_000),
    -0,
    1e308,
    2 ** 53,
    0.1,
    [],
    {},
    [[]],
    ["200-299"],
    ["\u0000"],
    null,
    true,
  ),
  fc.webUrl(),
  fc.string({ unit: "binary" }),
);
const mutation = fc.array(fc.tuple(fc.constantFrom(...FIELDS), anyValue), { maxLength: 4 });

/** As it would come over the wire: own keys only, `__proto__` among them. */
function bodyOf(kind: UptimeKind, changes: readonly (readonly [string, unknown])[]) {
  const text = JSON.stringify({ type: kind, ...GOOD[kind] }).slice(0, -1);
  const more = changes.map(([field, value]) => `,${JSON.stringify(field)}:${JSON.stringify(value) ?? "null"}`).join("");
  const request = { body: Buffer.from(`${text}${more}}`) } as unknown as ApiRequest;
  return readObject(request);
}

function refusalOf(attempt: () => void): ApiError | null {
  try {
    attempt();
    return null;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return error;
  }
}

describe("bodies of monitors", () => {
  it.each(UPTIME_KINDS)("of kind %s end in a draft or in a refusal that is the caller's fault", (kind) => {
    assertProperty(
      fc.property(mutation, (changes) => {
        const refused = refusalOf(() => {
          const draft = draftOfNew(kind, bodyOf(kind, changes));
          targetOf(kind, draft.settings);
          refuseShort(draft, PLANS.business);
          // What was accepted once is accepted again, unchanged.
          const monitor = { settings: draft.settings, kind } as unknown as Monitor;
          const again = draftOfChange(monitor, kind, { ...draft.settings });
          mustEqual(again.settings, draft.settings);
        });
        if (refused !== null) {
          must([400, 403, 413].includes(refused.status), `status ${refused.status}`);
          must(refused.message.length > 5 && refused.message.length < 300, refused.message);
        }
      }),
      { numRuns: 20_000 },
    );
  });

  it.each(TUNNELS)("of tunnels end in a draft or in a refusal that is the caller's fault: %j", (good) => {
    assertProperty(
      fc.property(mutation, mutation, (made, changed) => {
        const body = { ...bodyOf("ping", []), type: "vpn", host: undefined, ...good, ...Object.fromEntries(made) };
        let status = 200;
        const refused = refusalOf(() => {
          const { tunnel } = draftOfNewTunnel(body);
          const { protocol, fields } = tunnel;
          // What was accepted once is accepted again, unchanged.
          const again = draftOfTunnelChange(protocol, fields, { ...fields }).tunnel;
          mustEqual(changedFields(fields, again?.fields ?? {}), []);
          mustEqual(draftOfTunnelChange(protocol, fields, {}).tunnel, undefined);
          const change = refusalOf(() => draftOfTunnelChange(protocol, fields, Object.fromEntries(changed)));
          status = change?.status ?? 200;
        });
        must([200, 400, 413, 422].includes(refused?.status ?? status), `status ${refused?.status ?? status}`);
        const letters = refused?.message.length ?? 6;
        must(letters > 5 && letters < 300, refused?.message ?? "");
      }),
      { numRuns: 5_000 },
    );
  });
});

describe("request bodies", () => {
  it("of any bytes are an object or a 400", () => {
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 200 }),
      fc.json({ maxDepth: 6 }).map((text) => new TextEncoder().encode(text)),
      fc
        .string({ unit: fc.constantFrom("{", "}", "[", "]", '"', "\\", ":", ",", "a", "1", "u", "d", "8", "0") })
        .map((text) => new TextEncoder().encode(text)),
    );
    assertProperty(
      fc.property(bytes, (body) => {
        const refused = refusalOf(() => {
          const object = readObject({ body } as unknown as ApiRequest);
          must(!/\\ud[89a-f]/.test(JSON.stringify(object)), "half a character");
        });
        if (refused !== null) mustEqual([refused.status, refused.message], [400, "Invalid JSON body"]);
      }),
      { numRuns: 100_000 },
    );
  });
});

describe("tokens", () => {
  it("are 32 letters and digits, each as likely", () => {
    const seen = new Map<string, number>();
    for (let index = 0; index < 5_000; index++) {
      const token = newToken();
      expect(token).toMatch(/^[A-Za-z0-9]{32}$/);
      for (const letter of token) seen.set(letter, (seen.get(letter) ?? 0) + 1);
    }
    expect(seen.size).toBe(62);
    // 160,000 letters: 2,580 of each, standard deviation 50.
    for (const count of seen.values()) expect(Math.abs(count - 160_000 / 62)).toBeLessThan(400);
    expect(newToken(() => new Uint8Array(32).fill(61))).toBe("9".repeat(32));
  });
});
