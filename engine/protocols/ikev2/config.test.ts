import { expect, it } from "vitest";
import { parserSuite } from "../config.suite.ts";
import { parseIkev2 } from "./config.ts";

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
    [{ ...login, ip: "9.9.9.9" }, "ike.test-site.org 500", "9.9.9.9 500", "ike.test-site.org 4500"],
  ],
  bad: [
    [{}, "missing host"],
    [{ host: "h" }, "missing password"],
    [{ host: "h", username: "ada" }, "missing password"],
    [{ host: "h", username: "ada", psk: "x" }, "missing password"],
    [{ ...login, local_id: "C=CH, O=Example" }, "local_id cannot be a distinguished name"],
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
  expect(parseIkev2({ ...login, password: "changed" }).identity).toBe(one);
  expect(parseIkev2({ ...login, local_id: "other.test" }).identity).toBe(one);
  const shared = { host: login.host, psk: "x" };
  expect(parseIkev2({ ...shared, local_id: "client.test" }).identity).not.toBe(parseIkev2(shared).identity);
});
