/** Answers that go on, before both servers. */
import { describe } from "vitest";
import { streamsSuite } from "../testkit/api/streams.suite.ts";
import { listenNet } from "./server.ts";
import { listenNode } from "./server-node.ts";

describe("node:net", () => streamsSuite(listenNet));

describe("node:http", () => streamsSuite(listenNode));
