/** The settings of a command that serves or checks: read once, then nothing else on this machine shall read them out of this process. */
import { type Config, forgetSecrets, loadConfig } from "../config.ts";
import type { Limits } from "../model/plan.ts";
import { hideFromOthers } from "../native/sandbox/own-process.ts";

/**
 * @param standardLimits of the role (SONDE_LIMITS)
 * @throws ConfigError
 */
export function loadOwnConfig(standardLimits?: Limits): Config {
  const config = loadConfig(undefined, standardLimits);
  // What a process was started with stays in its memory, and in /proc for its own user, whatever is deleted here.
  if (!config.isDebuggable) hideFromOthers();
  forgetSecrets();
  return config;
}
