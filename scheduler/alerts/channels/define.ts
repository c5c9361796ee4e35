/** What every kind of channel has in common: its settings are read, its message is made tidy, before the kind's own code sees them. */
import type { z } from "zod";
import type { Message } from "../../../model/alert-message.ts";
import type { ChannelAnswer, ChannelKind, ChannelRequest, SendContext, SendOutcome } from "./channel.ts";
import { tidyMessage, withoutRepeats } from "./tidy.ts";

export interface ChannelDefinition<Schema extends z.ZodObject> {
  readonly kind: string;
  readonly name: string;
  readonly summary: string;
  readonly schema: Schema;
  readonly docs: string;
  /** Its readers are programs, which expect each part in its place; the others are read by people. */
  readonly isForPrograms?: true;
  /** Settings that say where the secrets go: one that changes needs the secrets anew. */
  readonly places?: readonly (keyof z.infer<Schema> & string)[];
  /** Pure. */
  request?(message: Message, settings: z.infer<Schema>, context: SendContext): ChannelRequest;
  /** What is sent once that was delivered, whose answer changes nothing; null: nothing. */
  afterwards?(message: Message, settings: z.infer<Schema>, context: SendContext): ChannelRequest | null;
  judge?(answer: ChannelAnswer, settings: z.infer<Schema>): SendOutcome;
  /** Settings that stand for these where the request is shown; absent: secrets are taken out of the text. */
  masked?(settings: z.infer<Schema>): z.infer<Schema>;
}

export interface DefinedChannel extends ChannelKind {
  readonly schema: z.ZodObject;
  readonly places: readonly string[];
  afterwards(message: Message, settings: Record<string, unknown>, context: SendContext): ChannelRequest | null;
  /** The request as it may be shown. */
  shown?(message: Message, settings: Record<string, unknown>, context: SendContext): ChannelRequest;
  judge(answer: ChannelAnswer, settings?: Record<string, unknown>): SendOutcome;
}

export function defineChannel<Schema extends z.ZodObject>(definition: ChannelDefinition<Schema>): DefinedChannel {
  const { kind, name, summary, schema, docs, request, judge, afterwards, masked, places = [] } = definition;
  const told = (message: Message): Message =>
    definition.isForPrograms === true ? tidyMessage(message) : withoutRepeats(tidyMessage(message));
  const read = (settings: Record<string, unknown>): z.infer<Schema> => schema.parse(settings);
  return {
    kind,
    name,
    summary,
    schema,
    docs,
    places,
    ...(request !== undefined && {
      request: (message, settings, context) => request(told(message), read(settings), context),
    }),
    ...(request !== undefined &&
      masked !== undefined && {
        shown: (message, settings, context) => request(told(message), masked(read(settings)), context),
      }),
    afterwards: (message, settings, context) => afterwards?.(told(message), read(settings), context) ?? null,
    judge(answer, settings = {}) {
      if (judge === undefined) throw new TypeError(`${kind} is no channel over HTTP`);
      return judge(answer, settings as z.infer<Schema>);
    },
  };
}
