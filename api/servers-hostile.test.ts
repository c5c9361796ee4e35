/** Hostile framing and hostile patience before both servers. */
import { describe } from "vitest";
import { headerNamesSuite } from "../testkit/api/header-names.suite.ts";
import { slowSuite } from "../testkit/api/slow.suite.ts";
import { smugglingSuite } from "../testkit/api/smuggling.suite.ts";
import { listenUws } from "./server.ts";
import { listenNode } from "./server-node.ts";

describe("uWebSockets.js", () => {
  smugglingSuite(listenUws);
  slowSuite(listenUws);
});

describe("node:http", () => {
  smugglingSuite(listenNode);
  slowSuite(listenNode);
  // uWebSockets.js for Node 20 does not answer all of them (docs/decisions/0001-http-server.md#on-node-20).
  headerNamesSuite(listenNode);
});
