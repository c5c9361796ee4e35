import { parserSuite } from "../config.suite.ts";
import { parseOpenconnect } from "./config.ts";

const login = { host: "oc.test-site.org", username: "ada", password: "pw" };

parserSuite("openconnect", {
  parse: parseOpenconnect,
  identity: "account",
  words: ["https://", ":443", "/group"],
  good: [
    [login, "oc.test-site.org 443"],
    [{ ...login, port: 8443, group: "staff" }, "oc.test-site.org 8443"],
    [{ ...login, host: "OC.test-site.org:10443" }, "oc.test-site.org 10443"],
    [{ ...login, host: "https://oc.test-site.org/group" }, "oc.test-site.org 443"],
    [{ ...login, host: "oc.test-site.org:8443/?camouflage" }, "oc.test-site.org 8443"],
    [{ ...login, host: "oc.test-site.org?camouflage#top" }, "oc.test-site.org 443"],
    [{ ...login, host: "https://[2001:470::5]:8443/a" }, "2001:470::5 8443"],
    [{ ...login, host: "2001:470::5" }, "2001:470::5 443"],
    [{ ...login, ip: "9.9.9.9" }, "oc.test-site.org 443", "9.9.9.9 443"],
    [{ ...login, pin: `pin-sha256:${"A".repeat(43)}=` }, "oc.test-site.org 443"],
  ],
  bad: [
    [{}, "missing host"],
    [{ host: "h" }, "missing username"],
    [{ host: "h", username: "ada" }, "missing password"],
    [{ ...login, host: "a b" }, "host is neither a name nor an address"],
    [{ ...login, host: "oc.test-site.org/a b" }, "the path in host holds what no path has"],
    [{ ...login, group: "g".repeat(5_000) }, "group is too long"],
    [{ ...login, pin: "sha256:00" }, "pin must be pin-sha256:… of the server's key"],
    [{ ...login, ca: "none" }, "ca holds no certificate in PEM"],
    [
      { ...login, ca: "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----" },
      "ca holds a certificate that cannot be read",
    ],
  ],
});
