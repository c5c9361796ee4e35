/** The monitor that a path names. */
import type { MonitorWithLive } from "../../store/sql/monitors/port.ts";
import type { Api } from "../api.ts";
import { refusal } from "../errors.ts";
import { type ProjectCall, pathId } from "../route.ts";

/** @throws 400, 404 */
export async function findMonitor(api: Api, call: ProjectCall): Promise<MonitorWithLive> {
  const found = await api.controlPlane.monitors.find(call.project.id, pathId(call, "server", "invalidServerId"));
  if (found === undefined) throw refusal("serverNotFound");
  return found;
}
