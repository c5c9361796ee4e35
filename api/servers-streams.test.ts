/** Answers that go on, before both servers. */
import { describe } from "vitest";
import { streamsSuite } from "../testkit/api/streams.suite.ts";
import { listenUws } from "./server.ts";
import { listenNode } from "./server-node.ts";

describe("uWebSockets.js", () => streamsSuite(listenUws));

describe("node:http", () => streamsSuite(listenNode));
