/** Checks of databases and brokers whose port can be watched instead. Pure. */
import { parseUrl, withoutBrackets } from "../../../model/url.ts";
import { type Fields, jsonIn, listIn, memberOf, numberAt, numberIn, textAt, textIn } from "../values.ts";

export interface HostAndPort {
  readonly host: string;
  readonly port: number;
}

/** Types with a host and a port of their own, over TCP. */
const WITH_PORT: readonly string[] = ["mqtt", "smtp", "rabbitmq"];
/** Types with a connection string, and the port that is meant where it names none. */
const WITH_STRING: Readonly<Record<string, number>> = {
  mysql: 3306,
  postgres: 5432,
  sqlserver: 1433,
  redis: 6379,
  mongodb: 27_017,
  oracledb: 1521,
};
const MQTT_PORT = 1883;
const RABBITMQ_PORT = 15_672;

/** @returns undefined where there is none, or it is UDP's */
export function portOf(type: string, row: Fields): HostAndPort | undefined {
  if (type === "rabbitmq") {
    const [first] = listIn(jsonIn(memberOf(row, "rabbitmq_nodes")));
    return placeOf(textIn(first), RABBITMQ_PORT);
  }
  if (WITH_PORT.includes(type)) {
    const host = textAt(row, "hostname")?.trim();
    const bare = host === undefined ? undefined : parseUrl(host)?.hostname || host;
    const port = numberAt(row, "port") ?? MQTT_PORT;
    return bare === undefined ? undefined : { host: withoutBrackets(bare), port };
  }
  if (!Object.hasOwn(WITH_STRING, type)) return undefined;
  const text = textAt(row, "database_connection_string");
  return type === "sqlserver" ? ofSqlServer(text) : placeOf(text, WITH_STRING[type] ?? 0);
}

/** `scheme://user:password@host:port/…`; of several hosts the first. */
function placeOf(text: string | undefined, standardPort: number): HostAndPort | undefined {
  if (text === undefined || text.length > 4_096) return undefined;
  const authority = /^[a-z][a-z0-9+.-]{0,30}:\/\/([^/?#]*)/i.exec(text)?.[1] ?? text;
  const first = (authority.split("@").at(-1) ?? "").split(",")[0] ?? "";
  const url = parseUrl(`http://${first}`);
  if (url === undefined || url.hostname === "") return undefined;
  return {
    host: withoutBrackets(url.hostname),
    port: url.port === "" ? portIn(first, standardPort) : Number(url.port),
  };
}

/** A URL leaves out the port 80. */
function portIn(authority: string, standardPort: number): number {
  return authority.endsWith(":80") ? 80 : standardPort;
}

/** `Server=host,1433;Database=…`. */
function ofSqlServer(text: string | undefined): HostAndPort | undefined {
  const words = (text ?? "")
    .slice(0, 4_096)
    .split(";")
    .map((one) => one.split("="));
  const server = words.find(([name]) => ["server", "data source"].includes(name?.trim().toLowerCase() ?? ""))?.[1];
  const [host, port] = (server ?? "").replace(/^tcp:/i, "").split(",");
  if (host === undefined || host.trim() === "") return undefined;
  return { host: host.trim(), port: numberIn(port) ?? WITH_STRING.sqlserver ?? 0 };
}
