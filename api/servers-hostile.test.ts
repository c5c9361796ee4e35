/** Hostile framing and hostile patience before both servers. */
import { describe } from "vitest";
import { headerNamesSuite } from "../testkit/api/header-names.suite.ts";
import { slowSuite } from "../testkit/api/slow.suite.ts";
import { smugglingSuite } from "../testkit/api/smuggling.suite.ts";
import { listenUws } from "./server.ts";
import { listenNode } from "./server-node.ts";
import { packagedReadsAllNames } from "./uws-binary.ts";

describe("uWebSockets.js", () => {
  smugglingSuite(listenUws);
  slowSuite(listenUws);
  // Where it cannot, it serves only when SONDE_HTTP chooses it: start.test.ts.
  if (packagedReadsAllNames()) headerNamesSuite(listenUws);
});

describe("node:http", () => {
  smugglingSuite(listenNode);
  slowSuite(listenNode);
  headerNamesSuite(listenNode);
});
