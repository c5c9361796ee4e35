/** What descriptors of website and keyword checks have in common. */
import type { Socket } from "node:net";
import type { Target } from "../contract/kind.ts";
import { hostText } from "../net/host-text.ts";
import { SECRET_FIELDS } from "./request-fields.ts";
import { LATER_FIELDS, type WebSettings } from "./settings.ts";

export const website = {
  target({ url }: WebSettings): Target {
    const { protocol, hostname, port } = new URL(url);
    const standard = protocol === "https:" ? 443 : 80;
    return { host: hostText(hostname), port: port === "" ? standard : Number(port) };
  },
  seesCertificate: ({ url }: WebSettings): boolean => /^https:/i.test(url),
  secretFields: SECRET_FIELDS,
  // Mail servers have it too.
  unnamedFields: ["verify_certificate"],
  laterFields: LATER_FIELDS,
};

/** The demo's web server: one page for whatever is asked. */
export function servePage(body: string): (socket: Socket) => void {
  const head = `HTTP/1.1 200 OK\r\ncontent-type: text/html; charset=utf-8\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n`;
  return (socket) => socket.once("data", () => socket.end(head + body));
}
