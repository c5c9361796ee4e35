import type { Message } from "../../../model/alert-message.ts";

/** One HTTP request a channel wants to send; made purely from message and settings. */
export interface ChannelRequest {
  readonly method: "POST" | "PUT" | "GET" | "PATCH" | "DELETE";
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  /** An answer of so many bytes is taken, whole or not at all; absent: its first 2 KiB are kept. */
  readonly mostAnswerBytes?: number;
}

/** A POST of a JSON body, as most services take it. */
export function jsonPost(url: string, body: unknown, headers: ChannelRequest["headers"] = {}): ChannelRequest {
  return {
    method: "POST",
    url,
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  };
}

export interface ChannelAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** The first 2 KiB, or all of it where the request says so. */
  readonly text: string;
}

export interface SendContext {
  readonly notificationId: string;
  readonly nowMs: number;
  /** What an earlier message of the same group returned: a message's id, a receipt. */
  readonly previous: string | null;
  /** Whose message it is: projects take turns in the thread that sends. 0: the operator's. */
  readonly projectId: number;
  /** What an earlier attempt of this message left to do; absent: all of it. */
  readonly left?: string | null;
}

export type SendOutcome =
  | {
      readonly delivered: true;
      readonly statusCode: number | null;
      readonly reference: string | null;
      /** Who of several readers refused it for good, in one line; absent: none did. */
      readonly refusal?: string;
    }
  | {
      readonly delivered: false;
      readonly statusCode: number | null;
      /** The service's words, one line. */
      readonly error: string;
      readonly retryAfterMs: number | null;
      readonly permanent: boolean;
      /** What is left to do, because some readers have it; absent: all of it. */
      readonly left?: string;
    };

/** A kind of channel: one file, one line in channels/index.ts. Settings include the opened secrets. */
export interface ChannelKind {
  readonly kind: string;
  readonly name: string;
  readonly summary: string;
  /** A zod object; secret fields are marked (x-secret in the JSON Schema). */
  readonly schema: unknown;
  /** docs/use/channels/<kind>.md */
  readonly docs: string;
  /** Null where it is no HTTP request (email). */
  request?(message: Message, settings: Record<string, unknown>, context: SendContext): ChannelRequest;
  judge?(answer: ChannelAnswer): SendOutcome;
}

/** One attempt of any kind, over a guarded dial, with one deadline of 15 s; never rejects. */
export type SendToChannel = (
  channel: { readonly kind: string; readonly settings: Record<string, unknown> },
  message: Message,
  context: SendContext,
  signal: AbortSignal,
) => Promise<SendOutcome & { readonly sent: string; readonly durationMs: number }>;
