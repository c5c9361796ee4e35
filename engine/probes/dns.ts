import { z } from "zod";
import { isOwnVerdict } from "../../model/verdict.ts";
import { defineUptime } from "../contract/kind.ts";
import type { Outcome, ProbeContext } from "../contract/probe.ts";
import { classify } from "../net/classify.ts";
import { NetworkFault } from "../net/fault.ts";
import { hostText } from "../net/host-text.ts";
import { followChain } from "../protocols/dns/chain.ts";
import { answerToAll } from "../protocols/dns/demo-answer.ts";
import { DnsFormatError, decodeReply, encodeQuery, type Query, type Reply } from "../protocols/dns/message.ts";
import { toAsciiName } from "../protocols/dns/name.ts";
import { askOverStream } from "../transport/dns-stream.ts";
import type { Address } from "../transport/transport.ts";
import { hostField, keywordField, portField } from "./target-fields.ts";

const TYPES = ["A", "AAAA"] as const;
type AddressType = (typeof TYPES)[number];

/** Lost datagrams are sent again until the deadline, ms after the first; the longest timeout of a monitor is 120 s. */
const RESEND_AFTER_MS = [1_000, 2_500, 5_000, 10_000, 20_000, 40_000, 80_000];
/** Once one question has given a record, the other is waited for until its third resend: 5 s. */
const RESENDS_BESIDE_A_RECORD = 3;
/** A server that cannot be reached at one address may be at the next. */
const NEXT_ADDRESS_AFTER: ReadonlySet<string> = new Set(["refused", "unreachable", "unsupported"]);

/**
 * Asks one DNS server for a name's A and AAAA records, both at once over UDP, over TCP what does not fit.
 * Latency is the slower of the two answers, null unless both were given (docs/api-contract.md#uptime-fields).
 */
export const dns = defineUptime(
  {
    kind: "dns",
    summary: "DNS: asks a server for the addresses of a name",
    settings: z.object({
      domain: z
        .string({ error: "Missing or invalid domain" })
        .trim()
        .refine((text) => toAsciiName(text) !== undefined, "Missing or invalid domain")
        .describe("Name to ask for"),
      host: hostField.default("1.1.1.1").describe("DNS server to ask"),
      port: portField.default(53).describe("Port of the DNS server"),
      keyword: keywordField.describe(
        "Text that a record must contain, an address or an alias; upper and lower case are the same in DNS",
      ),
    }),
    unnamedFields: ["port"],
    example: { domain: "test-site.org" },
    target: ({ host, port }) => ({ host: hostText(host), port }),
    address: null,
    demo: {
      name: "Zone",
      answer: answerToAll,
      settings: ({ host, port }) => ({ domain: "demo.sonde.net", host, port, keyword: "192.0.2.7" }),
    },
  },
  async ({ domain, host, port, keyword }, context) => {
    const name = toAsciiName(domain);
    if (name === undefined) throw new NetworkFault("misconfigured", `${domain} is not a domain name`);
    context.phase("resolve");
    const addresses = await context.transport.resolve(host, port, "both", context);
    context.phase("request");
    for (const [index, address] of addresses.entries()) {
      const heard = await askBoth(name, { address, port, context });
      const isLast = index === addresses.length - 1;
      if (isLast || !heard.every(({ fault }) => NEXT_ADDRESS_AFTER.has(verdictOf(fault))))
        return judge(heard, domain, keyword);
    }
    throw new NetworkFault("unresolved", `The DNS server ${host} has no address`);
  },
);

interface Server {
  readonly address: Address;
  readonly port: number;
  readonly context: ProbeContext;
}

/** What came of one question. */
interface Heard {
  readonly type: AddressType;
  /** Null when it was not answered; then `fault` tells why. */
  readonly reply: Reply | null;
  readonly fault: unknown;
  readonly tookMs: number;
  /** Addresses at the end of the aliases. */
  readonly addresses: readonly string[];
  /** What the keyword is looked for in: addresses and the aliases on the way to them. */
  readonly texts: readonly string[];
}

function askBoth(name: string, server: Server): Promise<readonly Heard[]> {
  let hasRecord = false;
  const asked = TYPES.map(async (type) => {
    const heard = await ask(name, type, server, () => hasRecord);
    hasRecord ||= heard.addresses.length > 0;
    return heard;
  });
  return Promise.all(asked);
}

/** Never rejects. */
async function ask(name: string, type: AddressType, server: Server, hasOtherRecord: () => boolean): Promise<Heard> {
  const { context } = server;
  const [high = 0, low = 0] = context.randomBytes(2);
  const query = encodeQuery(name, type, high * 256 + low);
  const startedAt = context.now();
  const unheard = { type, reply: null, tookMs: 0, addresses: [], texts: [] };
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
  return askOverStream(await context.transport.connectTcp([address], port, context), query);
}

function found(reply: Reply, query: Query): Pick<Heard, "addresses" | "texts"> {
  const addresses = followChain(reply, query)?.records.map(({ data }) => data) ?? [];
  const aliases = reply.records.filter(({ type }) => type === "CNAME").map(({ data }) => data);
  return { addresses, texts: [...addresses, ...aliases] };
}

function judge(heard: readonly Heard[], domain: string, keyword: string | null): Outcome {
  const ownFault = heard.find(({ fault }) => fault !== null && isOwnVerdict(verdictOf(fault)));
  if (ownFault !== undefined) throw ownFault.fault;
  if (heard.every(({ addresses }) => addresses.length === 0)) return withoutRecord(heard, domain);
  const wanted = keyword?.toLowerCase();
  if (wanted !== undefined && !heard.some(({ texts }) => texts.some((text) => text.includes(wanted)))) {
    const records = heard.flatMap(({ addresses }) => addresses).join(", ");
    return { verdict: "rejected", message: `The keyword is in none of the records for ${domain}`, peer: records };
  }
  const isComplete = heard.every(({ reply }) => isAnswer(reply));
  return { verdict: "ok", latencyMs: isComplete ? Math.max(...heard.map(({ tookMs }) => tookMs)) : null };
}

/** An error code tells more than silence, and silence more than "no such record". */
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
  const isMissing = heard.some(({ reply }) => reply?.rcode === "NXDOMAIN");
  return {
    verdict: "rejected",
    message: isMissing
      ? `The DNS server answered NXDOMAIN: ${domain} does not exist`
      : `The DNS server has no A or AAAA record for ${domain}`,
  };
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
