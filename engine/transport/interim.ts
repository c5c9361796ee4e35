/** Interim answers to requests that Node's own client makes (RFC 9110 section 15.2). Our own reader of answers bounds them by itself. */
import type { ClientRequest } from "node:http";
import { NetworkFault } from "../net/fault.ts";

/** Of one request; a real one has two or three. */
const MOST = 32;

/** Node takes any number: a server that sends nothing else would keep the thread busy until the deadline. */
export function boundInterim(request: ClientRequest): void {
  let count = 0;
  request.on("information", () => {
    count += 1;
    if (count > MOST)
      request.destroy(new NetworkFault("protocol-error", "The server sends interim answers without end"));
  });
}
