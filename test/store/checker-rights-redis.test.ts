/** What a checker's user may do in a real Redis: all that its work needs, and nothing of other users (tried). */
import { randomUUID } from "node:crypto";
import { Redis } from "ioredis";
import { afterAll, afterEach, beforeEach, describe, expect, it } from "vitest";
import { outcomeOf } from "../../scheduler/fixtures.suite.ts";
import { keyRingOf, newKeyLine } from "../../store/sealing/keys.ts";
import { sealingWith } from "../../store/sealing/sealing.ts";
import { CHECKER_COMMANDS, checkerRule, checkerUser } from "../../store/state/checker-rights.ts";
import { CHECK, measured } from "../../store/state/checks.suite.ts";
import { openCheckServer, openChecks, openRunSender, openState, watchCheckers } from "../../store/state/open.ts";
import { openRedisRunServer } from "../../store/state/redis-run-server.ts";
import { isMissing, withServer } from "../servers/missing.ts";
import { startRedis } from "../servers/redis.ts";

const server = await startRedis();
afterAll(async () => {
  if (!isMissing(server)) await server.stop();
});

const PASSWORD = "of-the-checkers-of-de";
/** By the rule; a transaction with what is refused in it; DEBUG, which Redis refuses to every client. */
const REFUSED = /NOPERM|EXECABORT|command not allowed/;

withServer("Redis", server, ({ url }) => {
  const closing: { close(): Promise<void> }[] = [];
  const ours = { url };
  const theirs = { url: url.replace("redis://", `redis://${checkerUser("de")}:${PASSWORD}@`) };
  const sealing = sealingWith(keyRingOf([newKeyLine()]));

  beforeEach(async () => {
    const redis = new Redis(url);
    const [command = "", ...words] = checkerRule("de", PASSWORD).split(" ");
    await redis.call(command, ...words);
    redis.disconnect();
  });
  afterEach(async () => {
    for (const one of closing.splice(0).reverse()) await one.close();
  });

  describe("a checker's user", () => {
    it("runs what is sent to its location, answers it, reports, and takes one-off checks", async () => {
      const id = randomUUID();
      const taken: string[] = [];
      const refuse = (_location: string, _count: number, reason: string): void => expect(reason).toBeUndefined();
      const checker = await openRedisRunServer(theirs, {
        checker: { location: "de", id, name: "box", version: "1" },
        sealing,
        state: () => ({ room: 1, inFlight: 0, isFit: true, reasons: [], isLeaving: false }),
        readSpec: (value) => value,
        take: (scheduler) => {
          taken.push(scheduler);
          checker.answer(scheduler, [outcomeOf(1)]);
        },
        onLink: (problem) => expect(problem).toBeNull(),
      });
      closing.push(checker);
      const watch = await watchCheckers(ours, { locations: () => ["de"], onRefused: refuse });
      closing.push(watch);
      await expect.poll(() => watch.healthy().length, { timeout: 5_000 }).toBe(1);
      let answered = 0;
      const sender = await openRunSender(ours, {
        scheduler: "one",
        locations: () => ["de"],
        sealingOf: () => sealing,
        refreshKeys: async () => {},
        onOutcomes: (_from, outcomes) => {
          answered += outcomes.length;
        },
        onCaughtUp: () => {},
        onRefused: refuse,
      });
      closing.push(sender);
      const name = { location: "de", id: watch.healthy()[0]?.id ?? "" };
      expect(name.id).toMatch(new RegExp(`^[0-3][0-9a-f]\\.${id}$`));
      expect(await sender.send(name, { specs: [], runs: [] })).toBe("sent");
      await expect.poll(() => answered, { timeout: 5_000 }).toBe(1);
      const take = async () => measured(3);
      closing.push(await openCheckServer(theirs, sealing, { location: "de", room: { api: 1, public: 1 }, take }));
      const checks = await openChecks(ours, () => sealing);
      closing.push(checks);
      expect(await checks.ask("api", "de", CHECK)).toEqual(measured(3));
      await checker.leave();
      expect(await sender.send(name, { specs: [], runs: [] })).toBe("absent");
    });

    it("may say no command of all that this Redis has, but those that its work needs", async () => {
      const redis = new Redis(url);
      const every = (await redis.call("COMMAND", "LIST")) as readonly string[];
      expect(every.length).toBeGreaterThan(200);
      const facts = (await redis.call("COMMAND", "INFO", ...every)) as readonly (readonly [string, number] | null)[];
      const allowed: string[] = [];
      for (const [at, name] of every.entries()) {
        const words = name.split("|");
        // As few words as the command takes: what the words are does not matter to whether it may be said at all.
        const least = Math.max(words.length, Math.abs(facts[at]?.[1] ?? words.length));
        const said = [...words, ...new Array<string>(least - words.length).fill("1")];
        const answer = await redis.call("ACL", "DRYRUN", checkerUser("de"), ...said).catch((error: unknown) => error);
        if (!/no permissions to run/.test(String(answer))) allowed.push(name);
      }
      // Containers are not commands by themselves; every client may send the last four, also before it logs in.
      const containers = new Set(every.filter((name) => name.includes("|")).map((name) => name.split("|")[0]));
      const open = ["auth", "hello", "quit", "reset"];
      expect(allowed.filter((name) => !containers.has(name)).sort()).toEqual([...CHECKER_COMMANDS, ...open].sort());
      redis.disconnect();
    });

    it("can neither read nor write another location's runs, outcomes or reports, nor list what there is", async () => {
      const redis = new Redis(url);
      await redis.xadd("sonde:runs:{nl}:a", "*", "body", "of nl");
      await redis.xadd("sonde:checks:{nl}:api", "*", "body", "of nl");
      const thief = new Redis(theirs.url);
      const attempts: readonly (() => Promise<unknown>)[] = [
        () => thief.xread("STREAMS", "sonde:runs:{nl}:a", "0"),
        () => thief.xrange("sonde:runs:{nl}:a", "-", "+"),
        () => thief.xread("STREAMS", "sonde:checks:{nl}:api", "0"),
        () => thief.xadd("sonde:runs:{nl}:a", "*", "body", "forged"),
        () => thief.xadd("sonde:outcomes:{nl}:one", "*", "body", "forged"),
        () => thief.hset("sonde:checkers:{nl}", "a", "forged"),
        () => thief.del("sonde:runs:{nl}:a"),
        // Of its own location: a stream in another's place by a name that only begins alike.
        () => thief.xadd("sonde:runs:{de}", "*", "body", "forged"),
        // Beside its own, behind its own, and in a transaction or a database beside.
        () => thief.xread("STREAMS", "sonde:runs:{de}:a", "sonde:runs:{nl}:a", "0", "0"),
        () => thief.del("sonde:runs:{de}:a", "sonde:runs:{nl}:a"),
        () => thief.multi().xrange("sonde:runs:{nl}:a", "-", "+").exec(),
        () => thief.select(1).then(() => thief.xrange("sonde:runs:{nl}:a", "-", "+")),
        () => thief.xreadgroup("GROUP", "checkers", "me", "STREAMS", "sonde:checks:{nl}:api", ">"),
        () => thief.xgroup("CREATE", "sonde:checks:{nl}:api", "mine", "0"),
        () => thief.xdel("sonde:runs:{nl}:a", "0-1"),
        () => thief.pexpire("sonde:runs:{nl}:a", 1),
        () => thief.xlen("sonde:runs:{de}:a"),
        () => thief.xtrim("sonde:outcomes:{de}:one", "MAXLEN", 0),
        () => thief.xinfo("STREAM", "sonde:runs:{nl}:a"),
        () => thief.xautoclaim("sonde:checks:{de}:api", "checkers", "me", 0, "0"),
        () => thief.keys("*"),
        () => thief.scan(0),
        () => thief.randomkey(),
        () => thief.hgetall("sonde:checkers:{de}"),
        () => thief.monitor(),
        () => thief.subscribe("sonde:notices"),
        () => thief.psubscribe("*"),
        () => thief.subscribe("sonde:check-answers:another"),
        () => thief.ssubscribe("sonde:notices"),
        () => thief.call("PUBSUB", "CHANNELS"),
        () => thief.publish("sonde:notices", "keys"),
      ];
      for (const [at, attempt] of attempts.entries()) {
        await expect(attempt(), `attempt ${at}`).rejects.toThrow(REFUSED);
      }
      thief.disconnect();
      redis.disconnect();
    });

    it("can neither see nor move counters and leases, run scripts, or change who may do what", async () => {
      const state = await openState(ours);
      closing.push(state);
      await state.counters.takeFrom("1 emails", 5, 60_000, Date.now());
      const redis = new Redis(url);
      const counters = await redis.keys("sonde:taken:*");
      expect(counters).toHaveLength(1);
      await redis.set("sonde:leases:sender", "held");
      const thief = new Redis(theirs.url);
      const attempts: readonly (() => Promise<unknown>)[] = [
        () => thief.get(counters[0] ?? ""),
        () => thief.del(counters[0] ?? ""),
        () => thief.pexpire(counters[0] ?? "", 1),
        () => thief.get("sonde:leases:sender"),
        () => thief.set("sonde:leases:sender", "mine"),
        () => thief.eval("return redis.call('get', KEYS[1])", 1, counters[0] ?? ""),
        () => thief.call("EVAL_RO", "return redis.call('get', KEYS[1])", 1, counters[0] ?? ""),
        // By a script that says nothing of the keys that it reads.
        () => thief.eval("return redis.call('keys', '*')", 0),
        () => thief.script("LOAD", "return 1"),
        () => thief.call("FUNCTION", "LOAD", "#!lua name=mine\nredis.register_function('f', function() end)"),
        () => thief.call("FCALL", "f", 0),
        () => thief.sort("sonde:runs:{de}:a", "BY", "nosort", "GET", counters[0] ?? ""),
        () => thief.copy(counters[0] ?? "", "sonde:runs:{de}:copy"),
        () => thief.rename(counters[0] ?? "", "sonde:runs:{de}:copy"),
        () => thief.move(counters[0] ?? "", 1),
        () => thief.dump(counters[0] ?? ""),
        () => thief.restore("sonde:runs:{de}:copy", 0, "x"),
        () => thief.migrate("127.0.0.1", 1, counters[0] ?? "", 0, 1_000),
        () => thief.object("ENCODING", counters[0] ?? ""),
        () => thief.memory("USAGE", counters[0] ?? ""),
        () => thief.type(counters[0] ?? ""),
        () => thief.exists(counters[0] ?? ""),
        () => thief.watch(counters[0] ?? ""),
        () => thief.debug("OBJECT", counters[0] ?? ""),
        () => thief.dbsize(),
        () => thief.flushall(),
        () => thief.flushdb(),
        () => thief.swapdb(0, 1),
        () => thief.config("GET", "*"),
        () => thief.config("SET", "requirepass", ""),
        () => thief.call("MODULE", "LIST"),
        () => thief.slowlog("GET"),
        () => thief.call("COMMAND", "LIST"),
        () => thief.call("REPLICAOF", "127.0.0.1", "1"),
        () => thief.call("PSYNC", "?", "-1"),
        () => thief.call("SYNC"),
        () => thief.save(),
        () => thief.call("CLUSTER", "INFO"),
        () => thief.call("ACL", "WHOAMI"),
        () => thief.call("ACL", "LIST"),
        () => thief.call("ACL", "SETUSER", checkerUser("de"), "allkeys", "allcommands"),
        () => thief.client("LIST"),
        () => thief.call("CLIENT", "KILL", "TYPE", "normal"),
        () => thief.client("PAUSE", 1_000),
        () => thief.client("TRACKING", "ON", "BCAST"),
        () => thief.shutdown(),
      ];
      for (const [at, attempt] of attempts.entries()) {
        await expect(attempt(), `attempt ${at}`).rejects.toThrow(REFUSED);
      }
      expect(await redis.get(counters[0] ?? "")).toBe("1");
      thief.disconnect();
      redis.disconnect();
    });
  });
});
