/** A document without the secrets that came over: each is a variable of the environment, filled in when the document is applied. Pure. */
import { kindNamed } from "../../engine/contract/registry.ts";
import type { Document, FieldValue } from "../../model/document/document.ts";
import { environmentPlaceholder, placeholderIn } from "../../model/document/placeholders.ts";
import { FreeNames } from "../../model/free-names.ts";
import { parseUrl } from "../../model/url.ts";

/** Of any kind of channel: what gives its sender the right to send. */
const CHANNEL_SECRETS: ReadonlySet<string> = new Set(
  "url urls token user password smtp_url routing_key access_token headers secret secrets".split(" "),
);
/** A template that names a secret, as channel-parts.ts writes it. */
const NAMED_SECRET = /^\{\{ secret\.\w+ \}\}$/;
/** Of tunnels and heartbeats. */
const MONITOR_SECRETS: ReadonlySet<string> = new Set(["token", "config", "username", "password", "psk"]);

export interface WithoutSecrets {
  readonly document: Document;
  /** Variables that the document needs, in order. */
  readonly variables: readonly string[];
}

export function withoutSecrets(document: Document): WithoutSecrets {
  const variables = new Variables();
  const hide = (section: "monitors" | "channels" | "subscriptions", isSecret: IsSecret) =>
    Object.fromEntries(
      Object.entries(document[section] ?? {}).map(([key, entry]) => {
        const fields = Object.entries(entry).map(([field, value]) => {
          if (!isSecret(entry, field, value)) return [field, value] as const;
          return [field, variables.hidden(value, [key, field])] as const;
        });
        return [key, Object.fromEntries(fields)];
      }),
    );
  const hidden = {
    ...document,
    monitors: hide("monitors", isMonitorSecret),
    subscriptions: hide("subscriptions", (_, field) => field === "url"),
    channels: hide("channels", (_, field) => CHANNEL_SECRETS.has(field)),
  };
  return { document: hidden as unknown as Document, variables: variables.names };
}

type Entry = { readonly [field: string]: unknown };
type IsSecret = (entry: Entry, field: string, value: unknown) => boolean;

function isMonitorSecret(entry: Entry, field: string, value: unknown): boolean {
  const kind = typeof entry.type === "string" ? kindNamed(entry.type) : undefined;
  if (kind?.family === "uptime" && (kind.secretFields as readonly string[] | undefined)?.includes(field)) return true;
  if (field !== "url" || typeof value !== "string") return MONITOR_SECRETS.has(field);
  // A tunnel's link is its secret; a website's address may name a user.
  const url = parseUrl(value);
  return kind === undefined || (url !== undefined && (url.username !== "" || url.password !== ""));
}

class Variables {
  readonly #free = new FreeNames();
  readonly names: string[] = [];

  /** Texts within, each as a variable of its own. What is one already stays. */
  hidden(value: unknown, path: readonly string[]): FieldValue {
    if (typeof value === "string") {
      const isNoSecret = placeholderIn(value) !== undefined || NAMED_SECRET.test(value);
      return isNoSecret ? value : this.#variable(path);
    }
    if (Array.isArray(value)) return value.map((one, index) => this.hidden(one, [...path, String(index + 1)]));
    if (typeof value !== "object" || value === null) return value as FieldValue;
    const members = Object.entries(value).map(([name, inner]) => [name, this.hidden(inner, [...path, name])] as const);
    return Object.fromEntries(members);
  }

  #variable(path: readonly string[]): string {
    const numbered = (count: number): string => environmentPlaceholder(...path, String(count));
    const placeholder = this.#free.free(environmentPlaceholder(...path), numbered);
    this.names.push(placeholder.slice("${env:".length, -1));
    return placeholder;
  }
}
