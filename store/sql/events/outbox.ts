/** The outbox: events wait here from the transaction of their change until the sender has made deliveries of them. */
import { randomBytes } from "node:crypto";
import type { NewEvent } from "../../../model/event.ts";
import { bulkInsert, insertRows } from "../db/bulk.ts";
import type { Session } from "../db/database.ts";
import { OUTBOX } from "../schema/tables.ts";
import { toJson } from "../schema/text.ts";

/** Random bytes of an event id: enough that no two processes ever make the same one. */
const EVENT_ID_BYTES = 18;
const ADD_EVENTS = bulkInsert(OUTBOX);

/**
 * Runs in the transaction of the change, also when no webhook wants the event: the sender decides that later.
 * @param webhookId the one webhook that gets them (`webhook.test`); null: all of the project that want the type
 */
export async function appendEvents(
  session: Session,
  events: readonly NewEvent[],
  webhookId: number | null = null,
): Promise<void> {
  if (events.length === 0) return;
  await insertRows(
    session,
    ADD_EVENTS,
    events.map(({ type, projectId, atMs, data }) => ({
      event_id: `msg_${randomBytes(EVENT_ID_BYTES).toString("base64url")}`,
      type,
      project_id: projectId,
      webhook_id: webhookId,
      at_ms: Math.round(atMs),
      data: toJson(data),
    })),
  );
}
