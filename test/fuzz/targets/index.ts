/** THE LIST of fuzz targets: every parser of bytes and texts that are not ours. */
import type { FuzzTarget } from "../target.ts";
import { API } from "./api.ts";
import { CONFIGS } from "./configs.ts";
import { KEYS } from "./keys.ts";
import { MESSAGES } from "./messages.ts";
import { NETWORK } from "./network.ts";
import { VPN } from "./vpn.ts";

export const TARGETS: readonly FuzzTarget[] = [...NETWORK, ...VPN, ...KEYS, ...CONFIGS, ...MESSAGES, ...API];
