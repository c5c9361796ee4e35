/** Mail. How it is sent is in scheduler/alerts/mail.ts; here is what it says. */
import { createHash } from "node:crypto";
import { z } from "zod";
import type { Message } from "../../../model/alert-message.ts";
import { isMailAddress, parseSender, parseSmtpUrl } from "../../../model/smtp-url.ts";
import type { SendContext } from "./channel.ts";
import { defineChannel } from "./define.ts";
import { line, optionalLine, secret } from "./fields.ts";
import { headline, htmlText, itemText, linksOf, moreLines, plainLines, tidyMessage, withoutRepeats } from "./tidy.ts";

/** Our choice: an alert, not a newsletter. */
const MOST_READERS = 20;

const readers = (what: string) =>
  z
    .array(line(254, "Mail address").refine(isMailAddress, "must be mail addresses"), {
      error: "must be a list of mail addresses",
    })
    .max(MOST_READERS, `must have at most ${MOST_READERS}`)
    .describe(what);

export const emailSchema = z
  .strictObject({
    to: readers("Who gets it").min(1, "must have one address at least"),
    cc: readers("Who gets a copy").default([]),
    smtp_url: secret(
      optionalLine(
        1_000,
        "A mail server of your own, smtps://user:password@host:465 or smtp://…:587; without it the service's",
      ).refine(
        (text) => text === null || parseSmtpUrl(text) !== undefined,
        "must be smtps://user:password@host:465 or smtp://user:password@host:587",
      ),
    ),
    from: optionalLine(300, "Whom the mail is from, with a mail server of your own").refine(
      (text) => text === null || parseSender(text) !== undefined,
      "must be an address, or Name <address>",
    ),
  })
  .refine(({ smtp_url, from }) => smtp_url === null || from !== null, {
    error: "is needed with smtp_url",
    path: ["from"],
  });
export type EmailSettings = z.infer<typeof emailSchema>;

export interface Mail {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  readonly messageId: string;
  /** Readers put mails with the same reference into one thread, whether or not the first of them has come. */
  readonly references: string;
}

/** @param domain of the sender's address */
export function mailOf(untidy: Message, context: SendContext, domain: string): Mail {
  const message = withoutRepeats(tidyMessage(untidy));
  const idOf = (text: string): string => `<${createHash("sha256").update(text).digest("hex").slice(0, 32)}@${domain}>`;
  const links = linksOf(message);
  return {
    subject: headline(message),
    text: `${[...plainLines(message), "", ...links.map(([name, url]) => `${name}: ${url}`)].join("\n")}\n`,
    html: htmlOf(message, links),
    messageId: idOf(`notification ${context.notificationId}`),
    references: idOf(`group ${message.groupKey}`),
  };
}

function htmlOf(message: Message, links: readonly (readonly [string, string])[]): string {
  const facts = message.facts.map(
    ([name, value]) => `<tr><th align="left" valign="top">${htmlText(name)}</th><td>${htmlText(value)}</td></tr>`,
  );
  const items = message.items.map((item) => {
    const text = htmlText(itemText(item));
    return `<li>${item.url === "" ? text : `<a href="${htmlText(item.url)}">${text}</a>`}</li>`;
  });
  return [
    `<!doctype html><html><head><meta charset="utf-8"><title>${htmlText(message.title)}</title></head><body>`,
    `<h2>${htmlText(headline(message))}</h2>`,
    message.summary === "" ? "" : `<p>${htmlText(message.summary)}</p>`,
    facts.length === 0 ? "" : `<table cellpadding="4">${facts.join("")}</table>`,
    items.length === 0 ? "" : `<ul>${items.join("")}</ul>`,
    ...moreLines(message.more).map((text) => `<p>${text}</p>`),
    `<p>${links.map(([name, url]) => `<a href="${htmlText(url)}">${name}</a>`).join(" &middot; ")}</p>`,
    "</body></html>",
  ].join("\n");
}

export const email = defineChannel({
  kind: "email",
  name: "Mail",
  summary: "A mail, by the service's mail server or one of yours",
  schema: emailSchema,
  docs: "docs/use/channels/email.md",
});
