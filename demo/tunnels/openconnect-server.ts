/** An OpenConnect server on a free port of loopback, for the demo and tests: says what it is told to, with a host behind it and the faults a test asks for. */
import type { Socket } from "node:net";
import { createServer, type TLSSocket } from "node:tls";
import { encodeFrame, FRAME, type Frame, FrameReader } from "../../engine/protocols/openconnect/cstp.ts";
import type { MadeCertificate } from "../certificates.ts";
import { listen } from "../loopback.ts";
import { echoHost } from "./host.ts";
import { list } from "./kept.ts";
import { OCSERV } from "./ocserv-words.ts";

export interface HeardRequest {
  readonly method: string;
  readonly target: string;
  readonly body: string;
  readonly head: string;
}

/** Status and headers, body; or what it does instead. */
export type Said = { readonly head: string; readonly body?: string } | "silence" | "close";

export interface ServerBehavior {
  readonly certificate: MadeCertificate;
  /** @returns undefined for what ocserv would say */
  readonly answer?: (request: HeardRequest, nth: number) => Said | undefined;
  /** Closes behind each answer but that to CONNECT, and says so. */
  readonly isForgetful?: boolean;
  /** Sends frames when the tunnel is up. */
  readonly greets?: readonly Buffer[];
  /** Answers packets only once it has heard a frame of this type. */
  readonly waitsFor?: number;
  /** Takes packets and gives none back. */
  readonly isCut?: boolean;
}

export interface OpenconnectServer {
  readonly port: number;
  readonly heard: HeardRequest[];
  readonly frames: Frame[];
  readonly connections: () => number;
  close(): Promise<void>;
}

const UP = `HTTP/1.1 200 CONNECTED\r\n${OCSERV.connected.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n`;

/** A login of ocserv, by what the request holds. */
function usual({ method, body }: HeardRequest): Said {
  if (method === "CONNECT") return { head: UP };
  const session = OCSERV.successHeaders.map(([name, value]) => `${name}: ${value}\r\n`).join("");
  if (body.includes("<password>")) return { head: `HTTP/1.1 200 OK\r\n${session}`, body: OCSERV.success };
  return { head: "HTTP/1.1 200 OK\r\n", body: body.includes("<username>") ? OCSERV.password : OCSERV.username };
}

export async function openOpenconnectServer(manners: ServerBehavior): Promise<OpenconnectServer> {
  const heard: HeardRequest[] = [];
  const frames: Frame[] = [];
  const sockets = new Set<Socket>();
  const server = createServer({ cert: manners.certificate.certPem, key: manners.certificate.keyPem });
  server.on("connection", (socket) => sockets.add(socket));
  server.on("tlsClientError", () => {});
  server.on("secureConnection", (socket) => {
    socket.on("error", () => {});
    serve(socket, manners, heard, frames);
  });
  const port = await listen(server);
  return {
    port,
    heard,
    frames,
    connections: () => sockets.size,
    close() {
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

function serve(socket: TLSSocket, manners: ServerBehavior, heard: HeardRequest[], frames: Frame[]): void {
  let text = "";
  let reader: FrameReader | null = null;
  const own: Frame[] = [];

  function take({ type, payload }: Frame): void {
    const frame = { type, payload: Buffer.from(payload) };
    own.push(frame);
    list(frames, frame);
    if (type === FRAME.disconnect) socket.end();
    const isReady = manners.waitsFor === undefined || own.some((each) => each.type === manners.waitsFor);
    if (type !== FRAME.data || manners.isCut === true || !isReady) return;
    const back = echoHost(frame.payload);
    if (back !== undefined) socket.write(encodeFrame(FRAME.data, back));
  }
  function say(request: HeardRequest): void {
    const said = manners.answer?.(request, heard.length - 1) ?? usual(request);
    if (said === "close") socket.destroy();
    if (typeof said === "string") return;
    if (request.method === "CONNECT" && said.head.startsWith("HTTP/1.1 200")) {
      reader = new FrameReader();
      socket.write(Buffer.concat([Buffer.from(said.head), ...(manners.greets ?? [])]));
      return;
    }
    const body = said.body ?? "";
    const last = manners.isForgetful === true ? "Connection: close\r\n" : "";
    socket.write(`${said.head}${last}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
    if (manners.isForgetful === true) socket.end();
  }

  socket.on("data", (bytes: Buffer) => {
    if (reader !== null) {
      reader.push(bytes, take);
      return;
    }
    text += bytes.toString("utf8");
    const end = text.indexOf("\r\n\r\n");
    const head = text.slice(0, end);
    const lengthBytes = Number(/^content-length: (\d+)/im.exec(head)?.[1] ?? "0");
    if (end < 0 || Buffer.byteLength(text.slice(end + 4)) < lengthBytes) return;
    const [method = "", target = ""] = head.split(" ");
    const request = { method, target, head, body: text.slice(end + 4) };
    text = "";
    list(heard, request);
    say(request);
  });
}
