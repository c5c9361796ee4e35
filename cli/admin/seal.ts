/** `sonde admin seal`: change the key that secrets are sealed with, beside a running service (docs/decisions/0006-stores.md). */
import { CommandError } from "../command.ts";
import type { Act, ActGroup } from "./act.ts";

const rotate: Act = {
  usage: "rotate",
  summary: "put a new key into the sealing key file and seal every secret anew; running services follow by themselves",
  options: [
    [
      "--keep-file",
      "make no key: the file's first key is new already, put there by hand before the old one on every machine",
    ],
  ],
  example: "seal rotate",
  async run({ controlPlane, sealingFile }, options) {
    const { rotateSealing } = await import("../../store/sealing/rotation.ts");
    const rotation = await rotateSealing(controlPlane, sealingFile, options.keepFile !== true);
    const { keyId, keyIdBefore, resealed, unreadable } = rotation;
    if (unreadable.length > 0) {
      throw new CommandError(
        `${resealed} secrets are sealed with the new key ${keyId}, but ${unreadable.length} could not be opened and stay as they are: ${unreadable.slice(0, 5).join("; ")}`,
      );
    }
    return {
      facts: { key_id: keyId, previous_key_id: keyIdBefore, resealed },
      text: `${resealed} secrets are sealed with key ${keyId} now; key ${keyIdBefore} stays in ${sealingFile.keyFile} until the next rotation. Back the file up.`,
    };
  },
};

export const seal: ActGroup = { name: "seal", summary: "change the key that secrets are sealed with", acts: [rotate] };
