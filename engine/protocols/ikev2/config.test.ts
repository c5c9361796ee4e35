import { generateKeyPairSync, type KeyObject } from "node:crypto";
import { expect, it } from "vitest";
import { makeAuthority, makeCertificate } from "../../../demo/certificates.ts";
import { parserSuite } from "../config.suite.ts";
import { parseIkev2 } from "./config.ts";

const authority = makeAuthority();
const client = makeCertificate({ commonName: "client", issuer: authority });
const other = makeCertificate({ commonName: "other", issuer: authority });
const own = { host: "ike.test-site.org", cert: client.certPem, key: client.keyPem };
const keyOf = (pair: { readonly privateKey: KeyObject }, secret?: { cipher: string; passphrase: string }): string =>
  pair.privateKey.export({ type: "pkcs8", format: "pem", ...secret }).toString();
const encrypted = keyOf(generateKeyPairSync("ec", { namedCurve: "P-256" }), { cipher: "aes-256-cbc", passphrase: "x" });

const login = { host: "ike.test-site.org", username: "ada", password: "pw" };

parserSuite("ikev2", {
  parse: parseIkev2,
  identity: "account",
  words: [":500", "[", "]"],
  good: [
    [login, "ike.test-site.org 500", "ike.test-site.org 4500"],
    [
      { host: "ike.test-site.org", password: "shared", remote_id: "gw" },
      "ike.test-site.org 500",
      "ike.test-site.org 4500",
    ],
    [{ host: "ike.test-site.org", psk: "shared", port: 4500 }, "ike.test-site.org 4500"],
    [{ ...login, local_id: "@client.test" }, "ike.test-site.org 500", "ike.test-site.org 4500"],
    [own, "ike.test-site.org 500", "ike.test-site.org 4500"],
    [
      { ...own, cert: `${authority.certPem}${own.cert}`, local_id: "ada@test-site.org", psk: "shared", port: 4500 },
      "ike.test-site.org 4500",
    ],
    [{ ...own, local_id: "CN=client" }, "ike.test-site.org 500", "ike.test-site.org 4500"],
    [{ ...own, username: "ada@test-site.org" }, "ike.test-site.org 500", "ike.test-site.org 4500"],
    [
      { ...own, username: "CN=client", local_id: "@ada", psk: "shared" },
      "ike.test-site.org 500",
      "ike.test-site.org 4500",
    ],
    [{ ...login, ip: "9.9.9.9" }, "ike.test-site.org 500", "9.9.9.9 500", "ike.test-site.org 4500"],
  ],
  bad: [
    [{}, "missing host"],
    [{ host: "h" }, "missing password"],
    [{ host: "h", username: "ada" }, "missing password"],
    [{ host: "h", username: "ada", psk: "x" }, "missing password"],
    [{ host: "h", cert: own.cert }, "cert and key go together"],
    [{ ...login, key: own.key }, "cert and key go together"],
    [{ ...own, ...login }, "password has no use beside cert and key; a gateway's pre-shared key is psk"],
    [{ ...login, cert: own.cert }, "cert and key go together"],
    [{ ...own, password: "pw" }, "password has no use beside cert and key; a gateway's pre-shared key is psk"],
    [{ ...own, cert: "x" }, "cert holds no certificate in PEM"],
    [{ ...own, cert: own.cert.repeat(17) }, "cert holds more than 16 certificates"],
    [{ ...own, key: "x" }, "key cannot be read"],
    [{ ...own, key: own.key.replace(/[A-Z]{2}/, "") }, "key cannot be read"],
    [{ ...own, key: encrypted }, "key is encrypted; a checker cannot be asked for its password"],
    [{ ...own, key: other.keyPem }, "cert and key do not belong together"],
    [
      { ...own, key: keyOf(generateKeyPairSync("x25519")) },
      "key is of a kind that IKEv2 does not sign with: use RSA, ECDSA or Ed25519",
    ],
    [{ ...own, local_id: "CN=other" }, "local_id is a distinguished name, but not the subject of cert"],
    [{ ...login, local_id: "C=CH, O=Example" }, "local_id is a distinguished name, but not the subject of cert"],
    [
      { ...login, local_id: "@#0g" },
      "local_id is no identity: use a name, an address, an e-mail address, or @#hexadecimal",
    ],
    [{ ...login, host: "%%" }, "host is neither a name nor an address"],
  ],
});

it("a login and a pre-shared key are different identities", () => {
  const one = parseIkev2(login).identity;
  expect(parseIkev2({ ...login, username: "bob" }).identity).not.toBe(one);
  expect(parseIkev2({ host: login.host, psk: "x" }).identity).not.toBe(one);
  // Who has not its password uses not the account.
  expect(parseIkev2({ ...login, password: "changed" }).identity).not.toBe(one);
  expect(parseIkev2({ host: login.host, psk: "y" }).identity).not.toBe(
    parseIkev2({ host: login.host, psk: "x" }).identity,
  );
  expect(parseIkev2({ ...login, local_id: "other.test" }).identity).toBe(one);
  const shared = { host: login.host, psk: "x" };
  expect(parseIkev2({ ...shared, local_id: "client.test" }).identity).not.toBe(parseIkev2(shared).identity);
  const certified = parseIkev2(own).identity;
  expect(parseIkev2({ ...own, psk: "x" }).identity).toBe(certified);
  expect(parseIkev2({ ...own, username: login.username }).identity).not.toBe(one);
  expect(parseIkev2({ ...own, cert: other.certPem, key: other.keyPem }).identity).not.toBe(certified);
});
