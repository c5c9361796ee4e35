/** Sends messages of channels for a role that answers the API: made when the first is sent, because most processes never send one. */
import type { Attempts } from "../scheduler/alerts/attempts/attempts.ts";
import type { SendToChannel } from "../scheduler/alerts/channels/channel.ts";
import type { MailSettings } from "../scheduler/alerts/channels/send.ts";
import { SYSTEM_CLOCKS } from "../scheduler/clock.ts";
import { VERSION } from "../version.ts";

export function channelSender(attempts: Attempts, mail: MailSettings): SendToChannel {
  let made: Promise<SendToChannel> | undefined;
  return async (...what) => {
    made ??= import("../scheduler/alerts/channels/send.ts").then(({ createSendToChannel }) =>
      createSendToChannel({ attempts, mail, version: VERSION, clocks: SYSTEM_CLOCKS }),
    );
    return (await made)(...what);
  };
}
