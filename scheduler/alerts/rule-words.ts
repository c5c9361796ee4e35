/**
 * A rule's words for the title and the summary of a message, in Liquid with the bounds of template.ts. A message whose words cannot be made is
 * sent with ours: a bad template does not keep an alert from being sent.
 */
import type { Message } from "../../model/alert-message.ts";
import type { AlertTemplate } from "../../model/alerting-rule.ts";
import { tidy } from "./channels/tidy.ts";
import { parseTemplate, Rendering, TemplateError, templateContext } from "./template.ts";

/** As long as ours at most; the rest is cut. */
const LONGEST_TITLE = 500;
const LONGEST_SUMMARY = 2_000;

/** Why a text is no template; null: it is one. */
export function faultOf(text: string): string | null {
  try {
    parseTemplate(text);
    return null;
  } catch (error) {
    if (error instanceof TemplateError) return error.message;
    throw error;
  }
}

interface Worded {
  readonly message: Message;
  /** Why the rule's words are not in it; null: they are, or it has none. */
  readonly fault: string | null;
}

export function worded(message: Message, template: AlertTemplate | null): Worded {
  if (template === null) return { message, fault: null };
  try {
    const rendering = new Rendering(templateContext(message));
    const title = line(rendering, template.title, LONGEST_TITLE);
    const summary = line(rendering, template.summary, LONGEST_SUMMARY);
    return { message: { ...message, title: title || message.title, summary: summary || message.summary }, fault: null };
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    return { message, fault: error.message };
  }
}

function line(rendering: Rendering, text: string | null, longest: number): string {
  return text === null ? "" : tidy(rendering.render(text), longest);
}
