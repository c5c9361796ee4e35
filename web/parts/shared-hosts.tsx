/** Says of open incidents that they share a host: then it is one thing to look at, and one to acknowledge. */
import { client, data, type Schemas } from "../api/client.ts";
import { useResource } from "../api/resource.ts";
import { canEdit } from "../state/session.ts";
import { hostsOf, sharedHosts } from "../state/shared-hosts.ts";
import { t } from "../words/words.ts";
import { AcknowledgeAll } from "./acknowledge-all.tsx";
import { Icon } from "./icon.tsx";

type Row = Schemas["IncidentRow"];

/** Of one request for their monitors. */
const MOST_MONITORS = 100;
const MOST_TOLD = 3;
/** Hosts of monitors seldom change, incidents come each second in a storm: they are asked for again after this, ms. */
const KEPT_MS = 60_000;

let kept: { readonly sinceMs: number; readonly hosts: Map<string, readonly string[]> } = {
  sinceMs: Number.NEGATIVE_INFINITY,
  hosts: new Map(),
};

/** @param only shown is what this incident shares, with the names of the others; null: what any share */
export function SharedHosts(props: { incidents: readonly Row[]; only: string | null; changed: () => void }) {
  const open = props.incidents.filter(({ status }) => status === "active");
  const ids = [...new Set(open.map(({ server_id: id }) => id))].slice(0, MOST_MONITORS);
  return ids.length < 2 ? null : <Shared {...props} open={open} ids={ids.join()} />;
}

interface SharedProps {
  readonly open: readonly Row[];
  readonly ids: string;
  readonly only: string | null;
  readonly changed: () => void;
}

function Shared({ open, ids, only, changed }: SharedProps) {
  // What cannot be had stays away: the incidents are whole without it.
  const { value } = useResource((signal) => hostsFor(ids.split(","), signal), ids).state.value;
  if (value === null) return null;
  const told = sharedHosts(open, value).filter(
    ({ incidents }) => only === null || incidents.some(({ id }) => id === only),
  );
  return (
    <>
      {told.slice(0, MOST_TOLD).map(({ host, incidents }) => (
        <div class="failed" key={host}>
          <Icon name="link" size={16} />
          <span>
            {t("incidents.shareHost", { n: incidents.length, host })}
            {only !== null && <Others incidents={incidents.filter(({ id }) => id !== only)} />}
          </span>
          {canEdit.value && (
            <AcknowledgeAll
              ids={incidents.filter(({ acknowledged }) => !acknowledged).map(({ id }) => id)}
              changed={changed}
            />
          )}
        </div>
      ))}
    </>
  );
}

function Others({ incidents }: { incidents: readonly Row[] }) {
  return (
    <>
      {incidents.map(({ id, server_name: name }) => (
        <span key={id}>
          {" · "}
          <a href={`#/incidents/${id}`} dir="auto">
            {name}
          </a>
        </span>
      ))}
    </>
  );
}

async function hostsFor(ids: readonly string[], signal: AbortSignal): Promise<ReadonlyMap<string, readonly string[]>> {
  if (performance.now() - kept.sinceMs > KEPT_MS) kept = { sinceMs: performance.now(), hosts: new Map() };
  const { hosts } = kept;
  const unknown = ids.filter((id) => !hosts.has(id));
  if (unknown.length > 0) {
    const query = { family: "all", ids: unknown.join(), limit: MOST_MONITORS } as const;
    const { servers } = await data(client.GET("/servers", { params: { query }, signal }));
    for (const id of unknown) hosts.set(id, []);
    for (const server of servers) hosts.set(server.id, hostsOf(server));
  }
  return hosts;
}
