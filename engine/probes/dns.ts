import { z } from "zod";
import type { Phase } from "../../model/result.ts";
import { isOwnVerdict } from "../../model/verdict.ts";
import { defineUptime } from "../contract/kind.ts";
import type { Outcome, ProbeContext } from "../contract/probe.ts";
import { classify } from "../net/classify.ts";
import { NetworkFault } from "../net/fault.ts";
import { hostText } from "../net/host-text.ts";
import { followChain } from "../protocols/dns/chain.ts";
import { answerToAll } from "../protocols/dns/demo-answer.ts";
import { hasRecord } from "../protocols/dns/expected.ts";
import {
  DnsFormatError,
  decodeReply,
  encodeQuery,
  type Query,
  type QuestionType,
  type Reply,
} from "../protocols/dns/message.ts";
import { reverseName, toAsciiName } from "../protocols/dns/name.ts";
import { askOverStream } from "../transport/dns-stream.ts";
import type { Address } from "../transport/transport.ts";
import { hostField, keywordField, portField, refusalOf } from "./target-fields.ts";

/** What is asked for when no type is named: both addresses. */
const ADDRESS_TYPES = ["A", "AAAA"] as const satisfies readonly QuestionType[];
const RECORD_TYPES = [
  "A",
  "AAAA",
  "CNAME",
  "MX",
  "NS",
  "TXT",
  "SOA",
  "SRV",
  "PTR",
  "CAA",
] as const satisfies readonly QuestionType[];
const domainError = refusalOf("domain", "must be a name, such as www.test-site.org; an address needs record_type PTR");
const RECORD_TYPE_MESSAGE = `record_type must be one of ${RECORD_TYPES.join(", ")} or null.`;
/** A check compares each with each record, of which a reply has at most 1,024. */
const EXPECTED_COUNT = 20;
/** Code points. A DKIM key of 4,096 bits has 750. */
const EXPECTED_LENGTH = 2_048;
const EXPECTED_MESSAGE = `expected must be a list of at most ${EXPECTED_COUNT} records of up to ${EXPECTED_LENGTH} characters.`;

/** Lost datagrams are sent again until the deadline, ms after the first; the longest timeout of a monitor is 120 s. */
const RESEND_AFTER_MS = [1_000, 2_500, 5_000, 10_000, 20_000, 40_000, 80_000];
/** Once one question has given a record, the other is waited for until its third resend: 5 s. */
const RESENDS_BESIDE_A_RECORD = 3;
/** A server that cannot be reached at one address may be at the next. */
const NEXT_ADDRESS_AFTER: ReadonlySet<string> = new Set(["refused", "unreachable", "unsupported"]);

/**
 * Asks one DNS server for a name's records of one type, or for A and AAAA at once; over UDP, over TCP what does not fit.
 * Latency is the slowest answer, null unless all were given (docs/api-contract.md#uptime-fields).
 */
export const dns = defineUptime(
  {
    kind: "dns",
    summary: "DNS: asks a server for the addresses of a name",
    settings: z
      .object({
        domain: z
          .string({ error: domainError })
          .trim()
          .refine((text) => questionName(text, "PTR") !== undefined, { error: domainError })
          .describe("Name to ask for; with record_type PTR also an address"),
        host: hostField.default("1.1.1.1").describe("DNS server to ask"),
        port: portField.default(53).describe("Port of the DNS server"),
        keyword: keywordField.describe("Text that a record must contain; upper and lower case are the same in DNS"),
        record_type: z
          .enum(RECORD_TYPES, { error: RECORD_TYPE_MESSAGE })
          .nullable()
          .default(null)
          .describe("Type of record to ask for; null asks for A and AAAA"),
        expected: z
          .array(
            z
              .string({ error: EXPECTED_MESSAGE })
              .trim()
              .min(1, EXPECTED_MESSAGE)
              .max(EXPECTED_LENGTH, EXPECTED_MESSAGE),
            {
              error: EXPECTED_MESSAGE,
            },
          )
          .max(EXPECTED_COUNT, EXPECTED_MESSAGE)
          .nullable()
          .default(null)
          .transform((records) => (records?.length === 0 ? null : records))
          .describe("Records that must all be there, as zone files write them, such as `10 mx.test-site.org`"),
      })
      .superRefine(({ domain, record_type }, issues) => {
        if (questionName(domain, record_type) !== undefined) return;
        issues.addIssue({ code: "custom", path: ["domain"], message: domainError({ input: domain }), input: domain });
      }),
    unnamedFields: ["port", "record_type", "expected"],
    example: { domain: "test-site.org" },
    target: ({ host, port }) => ({ host: hostText(host), port }),
    address: null,
    demo: {
      name: "Zone",
      answer: answerToAll,
      settings: ({ host, port }) => ({ domain: "demo.sonde.net", host, port, keyword: "192.0.2.7" }),
    },
  },
  async ({ domain, host, port, keyword, record_type, expected }, context) => {
    const name = questionName(domain, record_type);
    const types = record_type === null ? ADDRESS_TYPES : [record_type];
    if (name === undefined) throw new NetworkFault("misconfigured", `${domain} is not a domain name`);
    context.phase("resolve");
    const addresses = await context.transport.resolve(host, port, "both", context);
    context.phase("request");
    const heard = await askServer(addresses, context, (address, withinMs) =>
      askAll(name, types, { address, port, context, withinMs }),
    );
    if (heard.length > 0) return judge(heard, { domain, keyword, expected });
    throw new NetworkFault("unresolved", `The DNS server ${host} has no address`);
  },
);

/** An address stands for the name that its PTR records are at. */
function questionName(domain: string, type: QuestionType | null): string | undefined {
  return (type === "PTR" ? reverseName(domain) : undefined) ?? toAsciiName(domain);
}

interface Server {
  readonly address: Address;
  readonly port: number;
  readonly context: ProbeContext;
  /** A silent one is left at the first resend after this, ms; null: it is waited for until the deadline. */
  readonly withinMs: number | null;
}

/** What came of one question. */
interface Heard {
  readonly type: QuestionType;
  /** Null when it was not answered; then `fault` says why. */
  readonly reply: Reply | null;
  readonly fault: unknown;
  readonly tookMs: number;
  /** Records of the type at the end of the aliases. */
  readonly records: readonly string[];
  /** What the keyword is looked for in: records and the aliases on the way to them. */
  readonly texts: readonly string[];
  /** What there is beside records, for people; null: nothing. */
  readonly alias: string | null;
}

/**
 * Asks the next address where one cannot be reached, and where IPv6 is silent IPv4: a broken way of IPv6 is a common fault of networks, and not one of
 * the server. IPv6 comes first only where this machine has it. @returns what the last one asked has said
 */
async function askServer(
  addresses: readonly Address[],
  { deadlineAtMs, wallNowMs }: ProbeContext,
  ask: (address: Address, withinMs: number | null) => Promise<readonly Heard[]>,
): Promise<readonly Heard[]> {
  let heard: readonly Heard[] = [];
  for (let left = addresses; left.length > 0; ) {
    const [address, ...others] = left as readonly [Address, ...Address[]];
    const ipv4 = address.family === 6 ? others.filter(({ family }) => family === 4) : [];
    heard = await ask(address, ipv4.length > 0 ? (deadlineAtMs - wallNowMs()) / 2 : null);
    const verdicts = heard.map(({ fault }) => (fault === null ? "ok" : verdictOf(fault)));
    if (verdicts.every((verdict) => NEXT_ADDRESS_AFTER.has(verdict))) left = others;
    else left = verdicts.every((verdict) => verdict === "timeout") ? ipv4 : [];
  }
  return heard;
}

function askAll(name: string, types: readonly QuestionType[], server: Server): Promise<readonly Heard[]> {
  let hasRecord = false;
  const asked = types.map(async (type) => {
    const heard = await ask(name, type, server, () => hasRecord);
    hasRecord ||= heard.records.length > 0;
    return heard;
  });
  return Promise.all(asked);
}

/** Never rejects. */
async function ask(name: string, type: QuestionType, server: Server, hasOtherRecord: () => boolean): Promise<Heard> {
  const { context, withinMs } = server;
  const [high = 0, low = 0] = context.randomBytes(2);
  const query = encodeQuery(name, type, high * 256 + low);
  const startedAt = context.now();
  const unheard = { type, reply: null, tookMs: 0, records: [], texts: [], alias: null };
  let garbled: DnsFormatError | undefined;
  let resends = 0;

  function accept(datagram: Uint8Array): Reply | undefined {
    try {
      return decodeReply(datagram, query);
    } catch (error) {
      if (!(error instanceof DnsFormatError)) throw error;
      // Dropped, because it may be forged; remembered in case no valid reply comes.
      garbled = error;
      return undefined;
    }
  }
  function isWanted(): boolean {
    resends++;
    if (withinMs !== null && context.now() - startedAt >= withinMs) return false;
    return resends < RESENDS_BESIDE_A_RECORD || !hasOtherRecord();
  }

  try {
    const { transport } = context;
    const options = { resendAfterMs: RESEND_AFTER_MS, isWanted };
    const first = await transport.exchangeUdp(server.address, server.port, query.bytes, accept, context, options);
    context.answered();
    const reply = first.truncated ? await askOverTcp(query, server) : first;
    return { type, reply, fault: null, tookMs: context.now() - startedAt, ...found(reply, query) };
  } catch (error) {
    const fault =
      garbled === undefined
        ? error
        : new NetworkFault("protocol-error", `The answer is not valid DNS: ${garbled.message}`);
    return { ...unheard, fault };
  }
}

async function askOverTcp(query: Query, { address, port, context }: Server): Promise<Reply> {
  const connecting = context.transport.connectTcp([address], port, context);
  const socket = await connecting.catch((error: unknown) => rethrowAsTruncated(error, "connect"));
  return askOverStream(socket, query).catch((error: unknown) => rethrowAsTruncated(error, "request"));
}

/** Why TCP was tried must be told, because people open UDP alone for a name server. */
function rethrowAsTruncated(error: unknown, stage: Phase): never {
  const { message, ...what } = classify(error, stage);
  if (isOwnVerdict(what.verdict)) throw error;
  throw new NetworkFault(what.verdict, `The answer is too long for UDP, and over TCP: ${message}`, what);
}

function found(reply: Reply, query: Query): Pick<Heard, "records" | "texts" | "alias"> {
  const chain = followChain(reply, query);
  const records = chain?.records.map(({ data }) => data) ?? [];
  const aliases = reply.records.filter(({ type }) => type === "CNAME").map(({ data }) => data);
  const alias = chain === undefined ? "aliases without end" : `an alias that leads to ${chain.name}`;
  return { records, texts: [...records, ...aliases], alias: chain?.aliases === 0 ? null : alias };
}

interface Wanted {
  readonly domain: string;
  readonly keyword: string | null;
  readonly expected: readonly string[] | null;
}

function judge(heard: readonly Heard[], { domain, keyword, expected }: Wanted): Outcome {
  const ownFault = heard.find(({ fault }) => fault !== null && isOwnVerdict(verdictOf(fault)));
  if (ownFault !== undefined) throw ownFault.fault;
  if (heard.every(({ records }) => records.length === 0)) return withoutRecord(heard, domain);
  const peer = heard.flatMap(({ records }) => records).join(", ");
  const wanted = keyword?.toLowerCase();
  if (wanted !== undefined && !heard.some(({ texts }) => texts.some((text) => text.toLowerCase().includes(wanted)))) {
    return { verdict: "rejected", message: `The keyword is in none of the records for ${domain}`, peer };
  }
  const missing = expected?.find((record) => !heard.some(({ type, records }) => hasRecord(records, record, type)));
  if (missing !== undefined) {
    return { verdict: "rejected", message: `${domain} does not have the expected record ${missing}`, peer };
  }
  const isComplete = heard.every(({ reply }) => isAnswer(reply));
  return { verdict: "ok", latencyMs: isComplete ? Math.max(...heard.map(({ tookMs }) => tookMs)) : null };
}

/** An error code is more informative than a timeout, and a timeout more than "no such record". */
function withoutRecord(heard: readonly Heard[], domain: string): Outcome {
  const refusing = heard.find(({ reply }) => reply !== null && !isAnswer(reply));
  if (refusing?.reply) {
    return {
      verdict: "rejected",
      message: `The DNS server answered ${refusing.reply.rcode} for ${domain} (${refusing.type})`,
    };
  }
  const unheard = heard.find(({ reply }) => reply === null);
  if (unheard !== undefined) {
    const { verdict, message, peer } = classify(unheard.fault, "request");
    // Returned, not thrown: what came before the deadline is worth more than that it passed.
    return verdict === "protocol-error"
      ? { verdict, message, ...(peer === undefined ? {} : { peer }) }
      : rethrow(unheard.fault);
  }
  if (heard.some(({ reply }) => reply?.isReferral === true)) {
    const message = `The DNS server only names other servers for ${domain}: it is not recursive and does not have the zone`;
    return { verdict: "rejected", message };
  }
  const isMissing = heard.some(({ reply }) => reply?.rcode === "NXDOMAIN");
  return {
    verdict: "rejected",
    message: isMissing
      ? `The DNS server answered NXDOMAIN: ${domain} does not exist`
      : `The DNS server has no ${heard.map(({ type }) => type).join(" or ")} record for ${domain}${aliasWords(heard)}`,
  };
}

function aliasWords(heard: readonly Heard[]): string {
  const alias = heard.find((one) => one.alias !== null)?.alias ?? null;
  return alias === null ? "" : `, only ${alias}`;
}

/** That there is no such name or record is an answer; that the server would not or could not say is none. */
function isAnswer(reply: Reply | null): boolean {
  return reply?.rcode === "NOERROR" || reply?.rcode === "NXDOMAIN";
}

function verdictOf(fault: unknown): Exclude<Outcome["verdict"], "ok"> {
  return classify(fault, "request").verdict;
}

function rethrow(fault: unknown): never {
  throw fault;
}
