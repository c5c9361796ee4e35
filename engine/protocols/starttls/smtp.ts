/** STARTTLS of mail servers (RFC 3207). Pure. */
import { offers, readReply, type SmtpReply } from "../smtp/reply.ts";
import type { Turn } from "./turn.ts";

/** @param ownName what EHLO says: a name, or an address in brackets (RFC 5321 section 4.1.3) */
export function smtpTurns(ownName: string): readonly Turn[] {
  return [
    turn("", ({ code }) => code === 220),
    turn(`EHLO ${ownName}\r\n`, (reply) => reply.code === 250 && offers(reply, "STARTTLS")),
    turn("STARTTLS\r\n", ({ code }) => code === 220),
  ];
}

function turn(command: string, agrees: (reply: SmtpReply) => boolean): Turn {
  return {
    command,
    read(bytes) {
      const whole = readReply(bytes);
      if (whole === undefined) return undefined;
      const { code, lines } = whole.answer;
      return { answer: { agrees: agrees(whole.answer), words: `${code} ${lines.join(" ")}` }, bytes: whole.bytes };
    },
  };
}
