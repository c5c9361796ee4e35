/** One attempt of a channel of any kind: its request is made, sent past the address guard, and its answer judged. Never rejects. */

import type { Message } from "../../../model/alert-message.ts";
import { parseSender, parseSmtpUrl } from "../../../model/smtp-url.ts";
import { parseUrl } from "../../../model/url.ts";
import { receiverAddress } from "../../../model/web-address.ts";
import type { Clocks } from "../../clock.ts";
import type { Attempts } from "../attempts/attempts.ts";
import { withinAttempt } from "../post.ts";
import { TemplateError } from "../template.ts";
import type { ChannelRequest, SendContext, SendOutcome, SendToChannel } from "./channel.ts";
import type { DefinedChannel } from "./define.ts";
import { type EmailSettings, emailSchema, mailOf } from "./email.ts";
import { channelKind } from "./index.ts";
import { secretTexts, type Values } from "./settings.ts";
import { tidy } from "./tidy.ts";

/** Of what was sent, as it is shown; our choice: every message of ours is shorter. */
const MOST_SHOWN = 4_000;
const HIDDEN = "***";
/** A shorter secret is no secret, and hiding it would hide letters everywhere. */
const LEAST_SECRET = 4;
/** Of an address that is secret, parts this long are no words, such as `services` or `webhooks`. */
const LEAST_PART = 12;

/** The service's mail server and sender; null: mail needs a server of the channel's own. */
export interface MailSettings {
  readonly smtpUrl: string | null;
  readonly from: string | null;
}

export interface SendOptions {
  readonly attempts: Attempts;
  readonly mail: MailSettings;
  readonly version: string;
  readonly clocks: Pick<Clocks, "monotonicNowMs">;
}

interface Means {
  readonly attempts: Attempts;
  readonly userAgent: string;
  readonly mail: MailSettings;
}

type Sent = SendOutcome & { readonly sent: string };
type Unsent = Extract<Sent, { readonly delivered: false }>;

export function createSendToChannel(options: SendOptions): SendToChannel {
  const { attempts, mail, version } = options;
  const means: Means = { attempts, mail, userAgent: `Sonde/${version} (alert)` };
  return async (channel, message, context, signal) => {
    const startedAtMs = options.clocks.monotonicNowMs();
    // Of all its requests together: the sender's lease spares no more for a message.
    const outcome = await withinAttempt(signal, (ending) => attempt(means, channel, message, context, ending));
    return { ...outcome, durationMs: Math.max(0, options.clocks.monotonicNowMs() - startedAtMs) };
  };
}

async function attempt(
  means: Means,
  channel: { readonly kind: string; readonly settings: Record<string, unknown> },
  message: Message,
  context: SendContext,
  signal: AbortSignal,
): Promise<Sent> {
  const kind = channelKind(channel.kind);
  if (kind === undefined) return unsent(`there is no kind of channel ${tidy(channel.kind, 60)}`);
  const hide = hiding(secretTexts(kind, channel.settings));
  try {
    const outcome =
      kind.request === undefined
        ? await mailed(means, channel.settings, message, context, signal)
        : await requested(means, { kind, settings: channel.settings, hide }, message, context, signal);
    const shown = hide(outcome.sent).slice(0, MOST_SHOWN);
    if (!outcome.delivered) return { ...outcome, error: hide(outcome.error), sent: shown };
    return { ...outcome, ...(outcome.refusal !== undefined && { refusal: hide(outcome.refusal) }), sent: shown };
  } catch (error) {
    const isTemplate = error instanceof TemplateError;
    const words = isTemplate ? `the template ${error.message}` : "its settings cannot be used";
    return { ...unsent(hide(words)), permanent: !(isTemplate && error.isPassing) };
  }
}

function unsent(error: string): Unsent {
  return { delivered: false, statusCode: null, error, retryAfterMs: null, permanent: true, sent: "" };
}

interface OpenedChannel {
  readonly kind: DefinedChannel;
  readonly settings: Record<string, unknown>;
  /** Takes its secrets out of a text. */
  readonly hide: (text: string) => string;
}

async function requested(
  { attempts: { exchange }, userAgent }: Means,
  { kind, settings, hide }: OpenedChannel,
  message: Message,
  context: SendContext,
  signal: AbortSignal,
): Promise<Sent> {
  const request = (kind.request as NonNullable<DefinedChannel["request"]>)(message, settings, context);
  // A template may turn a secret into another form: what is shown is made without it.
  const sent = shownRequest(kind.shown?.(message, settings, context) ?? request);
  const caller = { userAgent, projectId: context.projectId };
  const { answer, fault } = await exchange(request, caller, signal);
  if (answer === null) {
    const error = withOpening(fault.error, fault.openedBy);
    return { delivered: false, statusCode: null, error, retryAfterMs: null, permanent: fault.isRefused, sent };
  }
  const outcome = kind.judge(answer, settings);
  if (!outcome.delivered) {
    // Words are cut, and a secret that is cut could not be taken out any more.
    const hidden = kind.judge({ ...answer, text: hide(answer.text) }, settings);
    return { ...(hidden.delivered ? outcome : { ...outcome, error: hidden.error }), sent };
  }
  const next = kind.afterwards(message, settings, context);
  if (next !== null) await exchange(next, caller, signal);
  return { ...outcome, sent };
}

function shownRequest({ method, url, body }: ChannelRequest): string {
  return `${method} ${receiverAddress(url)}${body === null ? "" : `\n\n${body}`}`;
}

function withOpening(error: string, openedBy: string | null): string {
  return openedBy === null ? error : `${error}; SONDE_ALLOW_NETS=${openedBy} opens it`;
}

async function mailed(
  { attempts, mail }: Means,
  values: Values,
  message: Message,
  context: SendContext,
  signal: AbortSignal,
): Promise<Sent> {
  const settings: EmailSettings = emailSchema.parse(values);
  const server = parseSmtpUrl(settings.smtp_url ?? mail.smtpUrl ?? "");
  const from = parseSender((settings.smtp_url === null ? mail.from : settings.from) ?? "");
  if (server === undefined || from === undefined) {
    return unsent(
      "this service has no mail server: set SONDE_SMTP_URL and SONDE_MAIL_FROM, or give the channel its own smtp_url",
    );
  }
  const letter = mailOf(message, context, from.address.slice(from.address.lastIndexOf("@") + 1));
  const readers = { to: settings.to, cc: settings.cc, left: leftReaders(context.left ?? null) };
  const { openedBy, ...outcome } = await attempts.mail(
    server,
    { ...letter, from, ...readers },
    context.projectId,
    signal,
  );
  const sent = `To: ${settings.to.join(", ")}\nSubject: ${letter.subject}\n\n${letter.text}`;
  return outcome.delivered ? { ...outcome, sent } : { ...outcome, error: withOpening(outcome.error, openedBy), sent };
}

/** null: all. */
function leftReaders(text: string | null): readonly string[] | null {
  return text === null ? null : text.split("\n");
}

/** Takes secrets out of a text, as they are and as JSON and addresses write them. Servers name a path that they do not know without its host. */
function hiding(secrets: readonly string[]): (text: string) => string {
  const forms = [...secrets, ...secrets.flatMap(partsOf)]
    .filter((secret) => secret.length >= LEAST_SECRET)
    .flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)]);
  const all = [...new Set(forms)].sort((a, b) => b.length - a.length);
  return (text) => all.reduce((rest, secret) => rest.replaceAll(secret, HIDDEN), text);
}

/** Of an address: its path, its password, and what is long enough to be a token. */
function partsOf(secret: string): readonly string[] {
  const url = parseUrl(secret);
  if (url === undefined) return [];
  const { pathname, search, password, searchParams } = url;
  const long = [...pathname.split("/"), ...searchParams.values()].filter((part) => part.length >= LEAST_PART);
  return [`${pathname}${search}`, pathname, password, ...long].flatMap((part) => [part, decoded(part)]);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
