/** Passkeys, before both servers. */
import { describe } from "vitest";
import { passkeysSuite } from "../testkit/api/passkeys.suite.ts";

describe("uWebSockets.js", () => passkeysSuite("uws"));

describe("node:http", () => passkeysSuite("node"));
