/** Where stores listen, from their URLs. Pure. */
import { withoutBrackets } from "../model/url.ts";

/** Where stores listen when their URL names no port. */
const DEFAULT_PORTS: Readonly<Record<string, number>> = {
  "postgres:": 5_432,
  "postgresql:": 5_432,
  "redis:": 6_379,
  "rediss:": 6_379,
  "http:": 80,
  "https:": 443,
};

export interface StoreEndpoint {
  readonly host: string;
  readonly port: number;
}

/**
 * Hosts and ports that a client of the URL connects to. PostgreSQL's clients take a host and a port of the query before those of the authority,
 * and several of them with commas (PostgreSQL 17, section 32.1.1.2); a host that is a path is a Unix socket.
 */
export function storeEndpoints(text: string): readonly StoreEndpoint[] {
  const { protocol, hostname, port, searchParams } = new URL(text);
  const isPostgres = protocol.startsWith("postgres");
  const hosts = ((isPostgres ? searchParams.get("host") : null) ?? decodeURIComponent(hostname)).split(",");
  const ports = ((isPostgres ? searchParams.get("port") : null) ?? port).split(",");
  return hosts
    .map((host, index) => ({
      host: withoutBrackets(host.trim()) || "localhost",
      port: Number(ports[index] ?? ports.at(-1)) || (DEFAULT_PORTS[protocol] ?? 0),
    }))
    .filter(({ host }) => !host.startsWith("/"));
}
