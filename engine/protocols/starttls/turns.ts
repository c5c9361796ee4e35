/** Protocols that agree on TLS in the clear, by the name that a monitor has for them. Pure. */
import { FTP_TURNS } from "./ftp.ts";
import { IMAP_TURNS } from "./imap.ts";
import { POP3_TURNS } from "./pop3.ts";
import { POSTGRES_TURNS } from "./postgres.ts";
import { smtpTurns } from "./smtp.ts";
import type { Turn } from "./turn.ts";

export const STARTTLS_PROTOCOLS = ["smtp", "imap", "pop3", "ftp", "postgres"] as const;
export type StarttlsProtocol = (typeof STARTTLS_PROTOCOLS)[number];

/** @param ownName of the client, for protocols in which it says one */
export function turnsOf(protocol: StarttlsProtocol, ownName: string): readonly Turn[] {
  switch (protocol) {
    case "smtp":
      return smtpTurns(ownName);
    case "imap":
      return IMAP_TURNS;
    case "pop3":
      return POP3_TURNS;
    case "ftp":
      return FTP_TURNS;
    case "postgres":
      return POSTGRES_TURNS;
  }
}
