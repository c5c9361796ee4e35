/** A message as it goes out signed: its headers (Standard Webhooks; docs/api-contract.md#webhooks). Pure. */
import { createHmac } from "node:crypto";

export interface SignedMessage {
  /** The same for every attempt. */
  readonly id: string;
  readonly body: string;
  /** Newest first: during a change of secrets each signs. */
  readonly keys: readonly Uint8Array[];
}

/** @param nowMs of this attempt */
export function headersOf({ id, body, keys }: SignedMessage, nowMs: number): Readonly<Record<string, string>> {
  const timestamp = String(Math.floor(nowMs / 1_000));
  const signatures = keys.map((key) => {
    const digest = createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest("base64");
    return `v1,${digest}`;
  });
  return {
    "content-type": "application/json",
    "webhook-id": id,
    "webhook-timestamp": timestamp,
    "webhook-signature": signatures.join(" "),
  };
}
