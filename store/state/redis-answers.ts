/** Answers to requests with an Idempotency-Key in Redis: a text for each, `<request> <answer>`, without an answer while there is none yet. */
import type { Redis } from "ioredis";
import type { Answers, Begun } from "./answers.ts";
import { PREFIX } from "./redis-prefix.ts";

/** Redis commands whose failures become StoreErrors. */
interface Commands {
  run<T>(work: (redis: Redis) => Promise<T>): Promise<T>;
}

export function createRedisAnswers(link: Commands): Answers {
  const keyOf = (name: string): string => `${PREFIX}answer:{${name}}`;

  async function begin(name: string, request: string, runsMs: number): Promise<Begun> {
    for (let attempt = 0; attempt < 2; attempt++) {
      const isFirst = await link.run((redis) => redis.set(keyOf(name), `${request} `, "PX", runsMs, "NX"));
      if (isFirst !== null) return { type: "first" };
      const text = await link.run((redis) => redis.get(keyOf(name)));
      // The answer expired between the two commands.
      if (text === null) continue;
      const blank = text.indexOf(" ");
      if (text.slice(0, blank) !== request) return { type: "other" };
      const answer = text.slice(blank + 1);
      return answer === "" ? { type: "running" } : { type: "answered", answer };
    }
    return { type: "running" };
  }

  return {
    begin,
    keep: (name, request, answer, keptMs) =>
      link.run(async (redis) => void (await redis.set(keyOf(name), `${request} ${answer}`, "PX", keptMs))),
    forget: (name) => link.run(async (redis) => void (await redis.del(keyOf(name)))),
  };
}
