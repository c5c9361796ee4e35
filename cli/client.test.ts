import { createServer, type RequestListener } from "node:http";
import { expect, it } from "vitest";
import { listen } from "../demo/loopback.ts";
import { connect } from "./client.ts";

/** What an answer of this kind makes of a read. */
async function failureOf(answer: RequestListener, withinMs?: number): Promise<string> {
  const server = createServer(answer);
  const url = `http://127.0.0.1:${await listen(server)}`;
  try {
    const client = connect({ url, key: "uk1_x", project: "prj_1" });
    const asked = withinMs === undefined ? client.get("/servers") : client.post("/servers", {}, withinMs);
    return await asked.then(
      () => "none",
      (error: Error) => error.message.replaceAll(url, "URL"),
    );
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}

it.each<[string, RequestListener, string]>([
  [
    "another program",
    (_, response) => void response.end("<html>"),
    "URL answered 200, but not as Sonde does: is it the address of the service?",
  ],
  [
    "nothing at the path",
    (_, response) => void response.writeHead(404).end(),
    "URL answered 404, but not as Sonde does: is it the address of the service?",
  ],
  [
    "a redirect, which would take the key along",
    (_, response) => void response.writeHead(301, { Location: "https://sonde.test-site.org/" }).end(),
    "URL leads to https://sonde.test-site.org/: give that address with --url or SONDE_URL",
  ],
  [
    "an answer that is cut off",
    (_, response) => {
      response.writeHead(200, { "Content-Length": "100" }).write("{");
      setImmediate(() => response.destroy());
    },
    "no answer from URL (the connection was cut): is the service running there? Give --url or SONDE_URL",
  ],
])("says so in one line when the answer is %s", async (_name, answer, message) => {
  expect(await failureOf(answer)).toBe(message);
});

it.each([
  [404, "Server not found", "there is no such monitor: sonde monitors lists them"],
  [404, "Webhook not found", "Webhook not found"],
  [401, "Invalid or expired API key", "Invalid or expired API key: give another one with --key or SONDE_KEY"],
  [500, "Internal server error", "the service answered 500: Internal server error"],
  [
    422,
    "127.0.0.1 cannot be monitored: 127.0.0.1 is a loopback address.",
    "127.0.0.1 cannot be monitored: 127.0.0.1 is a loopback address; the operator of the service can open it with SONDE_ALLOW_NETS",
  ],
  [
    422,
    "example.org is reserved for documentation and cannot be monitored.",
    "example.org is reserved for documentation and cannot be monitored.",
  ],
])("repeats a refusal (%i: %s) in the service's words, with what can be done here", async (status, message, shown) => {
  const refuse: RequestListener = (_, response) =>
    void response.writeHead(status).end(JSON.stringify({ error: true, code: status, message }));
  expect(await failureOf(refuse)).toBe(shown);
});

it("says how long it waited", async () => {
  expect(await failureOf(() => {}, 20)).toBe(
    "no answer from URL (not within 0.02 s): is the service running there? Give --url or SONDE_URL",
  );
});

it("asks again when a read is told to come again, and gives up in the end; a change is sent once", async () => {
  const asked: string[] = [];
  let busyTimes = 2;
  const server = createServer((request, response) => {
    asked.push(request.method ?? "");
    busyTimes -= 1;
    const isBusy = busyTimes >= 0;
    response.writeHead(isBusy ? 503 : 200, { "Content-Type": "application/json" });
    response.end(
      JSON.stringify(isBusy ? { error: true, code: 503, message: "busy", retry_after: 0 } : { servers: [] }),
    );
  });
  const port = await listen(server);
  try {
    const url = `http://127.0.0.1:${port}`;
    const client = connect({ url, key: "uk1_x", project: "prj_1" });
    expect(await client.get("/servers")).toEqual({ servers: [] });
    expect(asked.splice(0)).toEqual(["GET", "GET", "GET"]);
    busyTimes = 100;
    await expect(client.get("/servers")).rejects.toThrow("the service answered 503: busy");
    expect(asked.splice(0)).toHaveLength(6);
    await expect(client.post("/servers", {})).rejects.toThrow("503");
    expect(asked).toEqual(["POST"]);
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});
