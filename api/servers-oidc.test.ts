/** Signing in at a provider of identities, before both servers. */
import { describe } from "vitest";
import { oidcSuite } from "../testkit/api/oidc.suite.ts";

describe("uWebSockets.js", () => oidcSuite("uws"));

describe("node:http", () => oidcSuite("node"));
