/** `npm run bench -- <what>`: every bench by name. Each prints the conditions of its figures. */
import { Command } from "commander";
import { runUptime } from "./uptime/uptime.ts";

const program = new Command("bench").description("measures this machine; run it when nothing else runs");

program
  .command("uptime")
  .description("the whole product: monitors on schedule, judged and stored, compared with the target's log")
  .option("--monitors <n>", "http monitors", Number, 5_000)
  .option("--interval <s>", "seconds between two checks of one monitor", Number, 1)
  .option("--seconds <s>", "length of the measurement", Number, 60)
  .option("--warm-up <s>", "before it", Number, 10)
  .option("--compared <n>", "monitors whose every result is compared with the log", Number, 1_000)
  .option("--failing <per mille>", "share of answers that fail", Number, 10)
  .option("--json", "one line of JSON")
  .action(
    async (words: {
      monitors: number;
      interval: number;
      seconds: number;
      warmUp: number;
      compared: number;
      failing: number;
      json?: boolean;
    }) => {
      const {
        monitors,
        interval: intervalS,
        seconds,
        warmUp: warmUpS,
        compared,
        failing: failingPerMille,
        json = false,
      } = words;
      await runUptime({ monitors, intervalS, seconds, warmUpS, compared, failingPerMille, json });
    },
  );

await program.parseAsync(process.argv);
