/**
 * `verify-x509-name` as the real client judges it: certificates with subjects of every encoding and escape, each shown to openvpn by openvpn, and
 * the rule of the same line here.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { generateKeyPairSync, type KeyObject, X509Certificate } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, expect, it } from "vitest";
import { encodeDer } from "../engine/protocols/ikev2/der.ts";
import { certificateOf, oid, sequence } from "../engine/protocols/keys/hostile-keys.suite.ts";
import { writePem } from "../engine/protocols/keys/pem.ts";
import { parseProfile } from "../engine/protocols/openvpn/profile.ts";
import { refusalOf, rulesOf } from "../engine/protocols/openvpn/verify.ts";
import { freePort } from "../testkit/free-port.ts";
import { temporaryFolder } from "../testkit/temporary-folder.ts";
import { describeWith } from "./prerequisites.ts";

const [C, O, CN, OU] = ["2.5.4.6", "2.5.4.10", "2.5.4.3", "2.5.4.11"];
const TAG = { utf8: 0x0c, printable: 0x13, t61: 0x14, ia5: 0x16, universal: 0x1c, bmp: 0x1e } as const;
type Value = readonly [type: string | undefined, tag: keyof typeof TAG, content: string | Buffer];
type Parts = readonly (readonly Value[])[];

const bmp = (text: string): Buffer => Buffer.from(text, "utf16le").swap16();
const gw: readonly Value[] = [[CN, "utf8", "gw.test"]];

/** A subject, and lines that are asked of it; the first is the subject as openvpn prints it. */
const CASES: Readonly<Record<string, readonly [parts: Parts, ...lines: string[]]>> = {
  "a comma": [
    [[[C, "printable", "XX"]], [[O, "utf8", "Holdout, Inc"]], gw],
    '"C=XX, O=Holdout, Inc, CN=gw.test" subject',
    '"C=XX, O=Holdout\\\\, Inc, CN=gw.test" subject',
    '"C=XX, O=Holdout, Inc, CN=gw.test"',
    "gw.test name",
    "gw. name-prefix",
    "gw name",
    "gw.test. name-prefix",
  ],
  quotes: [[[[O, "utf8", `a "b" 'c'`]], gw], `"O=a \\"b\\" 'c', CN=gw.test" subject`],
  "signs of RFC 2253": [[[[O, "utf8", "# a+b;<c>=d "]], gw], '"O=# a+b;<c>=d , CN=gw.test" subject'],
  "a backslash": [[[[O, "utf8", "a\\b"]], gw], "'O=a\\\\b, CN=gw.test' subject", "'O=a\\b, CN=gw.test' subject"],
  "control characters": [
    [[[O, "utf8", "a\tb\0c\u007f"]], [[CN, "utf8", "g\tw"]]],
    "'O=a\\09b\\00c\\7F, CN=g\\09w' subject",
    "g_w name",
  ],
  "UTF-8": [
    [[[O, "utf8", "Zürich 東京 😀"]], [[CN, "utf8", "tür"]]],
    '"O=Zürich 東京 😀, CN=tür" subject',
    "tür name",
    "tü name-prefix",
  ],
  BMPString: [
    [[[O, "bmp", bmp("Zürich 東京")]], [[CN, "bmp", bmp("tür")]]],
    '"O=Zürich 東京, CN=tür" subject',
    "tür name",
  ],
  T61String: [[[[O, "t61", Buffer.from([0x5a, 0xfc])]], gw], '"O=Zü, CN=gw.test" subject'],
  UniversalString: [[[[O, "universal", Buffer.from("000000410001f600", "hex")]], gw], '"O=A😀, CN=gw.test" subject'],
  "a part of several values": [
    [
      [
        [O, "utf8", "a"],
        [OU, "ia5", "b"],
      ],
      [[OU, "utf8", "c"], ...gw],
    ],
    '"O=a + OU=b, OU=c + CN=gw.test" subject',
    "gw.test name",
  ],
  "names that OpenSSL does not know": [
    [[["1.2.3.4", "utf8", "x"]], [["1.2.840.113549.1.9.1", "ia5", "a@b"]], [["2.5.4.5", "printable", "7"]], gw],
    '"1.2.3.4=x, emailAddress=a@b, serialNumber=7, CN=gw.test" subject',
  ],
  "several common names": [
    [[[CN, "utf8", "first"]], gw, [[O, "utf8", "x"]]],
    "gw.test name",
    "first name",
    "fir name-prefix",
  ],
  "a zero in the name": [[[[CN, "utf8", "gw\0.evil"]]], "gw name", "'CN=gw\\00.evil' subject"],
};

function subjectParts(parts: Parts): readonly Buffer[] {
  return parts.map((values) =>
    encodeDer(
      0x31,
      Buffer.concat(
        values.map(([type = "", tag, content]) => sequence(oid(type), encodeDer(TAG[tag], Buffer.from(content)))),
      ),
    ),
  );
}

describeWith(["openvpn"], "verify-x509-name", () => {
  const folder = temporaryFolder();
  const children: ChildProcess[] = [];
  afterAll(() => {
    for (const child of children) child.kill("SIGKILL");
  });

  it("is judged as openvpn judges it", { timeout: 60_000 }, async () => {
    const authority = generateKeyPairSync("ec", { namedCurve: "P-256" });
    write("ca.crt", certificate(authority.publicKey, { subject: "authority", signer: authority.privateKey }));
    const issue = (name: string, parts: Parts): Buffer => {
      const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
      const of = { subjectParts: subjectParts(parts), issuer: "authority", signer: authority.privateKey };
      const der = certificate(publicKey, { ...of, isAuthority: false });
      write(`${name}.crt`, der);
      writeFileSync(join(folder, `${name}.key`), privateKey.export({ type: "pkcs8", format: "pem" }));
      return der;
    };
    issue("client", [gw]);
    const asked = Object.entries(CASES).flatMap(([name, [parts, ...lines]], index) => {
      const der = issue(`server-${index}`, parts);
      return lines.map((line) => ({ name, line, index, der }));
    });
    const found = await Promise.all(
      asked.map(async ({ name, line, index, der }) => {
        const rules = rulesOf(parseProfile(`verify-x509-name ${line}\n`));
        const ours = refusalOf({ certificate: new X509Certificate(der), issuer: () => null }, rules);
        return [`${name}: ${line}`, { ours: ours === null, openvpn: await isTaken(index, line) }] as const;
      }),
    );
    for (const [name, { ours, openvpn }] of found) expect([name, ours]).toEqual([name, openvpn]);
    // Both answers were given, and the subjects as they are printed were taken.
    expect(found.filter(([, { openvpn }]) => !openvpn).length).toBeGreaterThan(5);
    for (const [name, [, line]] of Object.entries(CASES))
      expect(found).toContainEqual([`${name}: ${line}`, { ours: true, openvpn: true }]);
  });

  function certificate(publicKey: KeyObject, overrides: Partial<Parameters<typeof certificateOf>[0]>): Buffer {
    return certificateOf({ spki: publicKey.export({ type: "spki", format: "der" }), ...overrides });
  }

  function write(name: string, der: Buffer): void {
    writeFileSync(join(folder, name), writePem("CERTIFICATE", der));
  }

  /** What a client with the line says of the certificate of a server beside it. Neither has a device or a network. */
  async function isTaken(index: number, line: string): Promise<boolean> {
    const port = await freePort();
    const common = (name: string) => [
      "dev null",
      "proto udp4",
      `ca ${folder}/ca.crt`,
      `cert ${folder}/${name}.crt`,
      `key ${folder}/${name}.key`,
      "verb 3",
    ];
    start(`server-${port}`, [...common(`server-${index}`), "local 127.0.0.1", `port ${port}`, "tls-server", "dh none"]);
    const client = start(`client-${port}`, [
      ...common("client"),
      `remote 127.0.0.1 ${port}`,
      "nobind",
      "tls-client",
      `verify-x509-name ${line}`,
    ]);
    const said: string[] = [];
    if (client.stdout === null) throw new Error("openvpn has no stdout");
    for await (const text of createInterface(client.stdout)) {
      said.push(text);
      if (text.includes("VERIFY X509NAME OK")) return true;
      if (text.includes("VERIFY X509NAME ERROR")) return false;
    }
    throw new Error(`openvpn ended:\n${said.join("\n")}`);
  }

  function start(name: string, lines: readonly string[]): ChildProcess {
    const path = join(folder, `${name}.conf`);
    writeFileSync(path, `${lines.join("\n")}\n`);
    const child = spawn("openvpn", ["--config", path], { stdio: ["ignore", "pipe", "inherit"] });
    children.push(child);
    return child;
  }
});
