/** Sessions of the page, before both servers. */
import { describe } from "vitest";
import { sessionsSuite } from "../testkit/api/sessions.suite.ts";

describe("node:net", () => sessionsSuite("net"));

describe("node:http", () => sessionsSuite("node"));
