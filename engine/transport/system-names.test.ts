import * as fc from "fast-check";
import { describe } from "vitest";
import { must } from "../../testkit/must.ts";
import { property } from "../../testkit/property.ts";
import { parseNameServer, ResolverEntryError } from "./name-servers.ts";
import { parseHosts, parseResolvConf } from "./system-names.ts";

/** Inputs as many as are said or 20 s of them, whichever is less, on a machine that may be busy with other things. */
const BOUNDED = { interruptAfterTimeLimit: 20_000 };

// Apart from resolver.test.ts, whose hooks would run around each of these inputs.
describe("this machine's files", () => {
  const words = [
    "nameserver",
    "search",
    "domain",
    "options",
    "ndots:3",
    "ndots:x",
    "#",
    ";",
    "\n",
    "\n",
    "::1",
    "fe80::1%e",
    "1.2.3.4",
    "1",
    "a.dev",
    "..",
    "\t",
  ];
  property([fc.array(fc.constantFrom(...words), { maxLength: 14 })], { ...BOUNDED, numRuns: 100_000 })(
    "no text crashes their parsers",
    (chosen) => {
      const text = chosen.join(" ");
      const conf = parseResolvConf(text);
      for (const server of conf.nameservers) parseNameServer(server);
      parseHosts(text);
    },
  );

  property([fc.string({ maxLength: 30 })], { ...BOUNDED, numRuns: 30_000 })("nor does any other", (text) => {
    parseResolvConf(`nameserver ${text}\nsearch ${text}\noptions ${text}\n${text}`);
    parseHosts(`${text}\n9.9.9.9 ${text}`);
    try {
      parseNameServer(text);
    } catch (error) {
      must(error instanceof ResolverEntryError, String(error));
    }
  });
});
