/** What a share link's check looks at before any core is asked. */
import { createSecureContext } from "node:tls";
import { describe, expect, it } from "vitest";
import type { OutboundSpec } from "../cores/outbound.ts";
import { createTransport } from "../transport/index.ts";
import { makeCheck } from "../transport/peers.suite.ts";
import type { Address, Transport } from "../transport/transport.ts";
import type { Verifier } from "../verify/verifier.ts";
import { checkShareLink } from "./share-link.ts";

/** Of an API that listens on this machine. */
const OWN_PORT = 8_080;
const transport = createTransport({
  allowNets: ["127.0.0.0/8", "10.0.0.1:4000", "10.0.0.1:4002"],
  ownEndpoints: [`127.0.0.1:${OWN_PORT}`],
  resolvers: [],
  extraCaPem: null,
  rdapBootstrapUrl: null,
  canaries: [],
});

async function reasonOf(url: string, engine?: "xray" | "singbox", over: Transport = transport): Promise<string> {
  const outbounds = {
    open: ({ address }: OutboundSpec) => Promise.reject(new Error(`a core is asked to dial ${address}`)),
  };
  const verifier: Verifier = {
    next: () => [],
    download: null,
    answersDirectly: async () => true,
    secureContext: () => createSecureContext(),
  };
  const context = { ...makeCheck(over).context, deadlineAtMs: Date.now() + 5_000, outbounds, verifier };
  const error: unknown = await checkShareLink({ url, ...(engine !== undefined && { engine }) }, context).then(
    () => new Error("it did not fail"),
    (thrown: unknown) => thrown,
  );
  return error instanceof Error ? error.message : String(error);
}

describe("the ports that hysteria2 hops between", () => {
  it("are all judged, not only the ends of their ranges", async () => {
    expect(await reasonOf("hy2://pw@127.0.0.1:443?mport=8000-9000")).toContain(`port ${OWN_PORT} is Sonde's own`);
    expect(await reasonOf("hy2://pw@127.0.0.1:8079-8081")).toContain(`port ${OWN_PORT} is Sonde's own`);
    expect(await reasonOf("hy2://pw@10.0.0.1:4000-4002")).toContain("10.0.0.1 is a private address");
  });

  it("are let through when every one of them may be dialled", async () => {
    expect(await reasonOf("hy2://pw@127.0.0.1:443?mport=8081-65535,1-8079")).toBe("a core is asked to dial 127.0.0.1");
    expect(await reasonOf("hy2://pw@10.0.0.1:4000,4002")).toBe("a core is asked to dial 10.0.0.1");
  });
});

describe("a name with addresses of both families", () => {
  it("is asked at its IPv4 address over UDP, as clients do", async () => {
    const both: readonly Address[] = [
      { ip: "::1", family: 6 },
      { ip: "127.0.0.1", family: 4 },
    ];
    const over = { ...transport, resolve: () => Promise.resolve(both) };
    expect(await reasonOf("hy2://pw@two.dev:443", undefined, over)).toBe("a core is asked to dial 127.0.0.1");
    const six = { ...transport, resolve: () => Promise.resolve(both.slice(0, 1)) };
    expect(await reasonOf("hy2://pw@two.dev:443", undefined, six)).toBe("a core is asked to dial ::1");
  });
});

describe("a core that was asked for", () => {
  it("is told from the other one when it cannot run the link", async () => {
    const link = "vless://b831381d-6324-4d53-ad4f-8cda48b30811@127.0.0.1:443?type=xhttp";
    expect(await reasonOf(link, "singbox")).toBe(
      "The core that was asked for cannot do this: sing-box has no xhttp. Leave engine out, so that the other one is tried",
    );
  });
});
