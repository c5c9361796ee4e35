/** From where a monitor is checked: each location is used, paused or not used. */
import { useSignal } from "@preact/signals";
import { client, data, type Schemas } from "../api/client.ts";
import { useResource } from "../api/resource.ts";
import { say } from "../state/notices.ts";
import { t } from "../words/words.ts";
import { Confirm } from "./dialog.tsx";
import { CheckField, SelectField } from "./field.tsx";
import { Show } from "./states.tsx";

const USES = ["used", "paused", "unused"] as const;
type Use = (typeof USES)[number];
type Chosen = Schemas["MonitorLocations"];

interface Place {
  readonly code: string;
  readonly name: string;
}

interface Props {
  readonly id: string;
  readonly name: string;
  readonly close: () => void;
  readonly changed: () => void;
}

export function EditLocations(props: Props) {
  const both = useResource(async (signal) => {
    const [chosen, { regions }] = await Promise.all([
      data(client.GET("/servers/{id}/locations", { params: { path: { id: props.id } }, signal })),
      data(client.GET("/regions", { signal })),
    ]);
    return { chosen, regions };
  }, props.id);
  return (
    <Show resource={both} rows={3}>
      {({ chosen, regions }) => <Form {...props} chosen={chosen} places={placesOf(chosen, regions)} />}
    </Show>
  );
}

/** Also what is chosen and no longer there. */
function placesOf({ locations }: Chosen, regions: readonly Place[]): readonly Place[] {
  const gone = locations.filter((code) => regions.every((region) => region.code !== code));
  return [...regions.map(({ code, name }) => ({ code, name })), ...gone.map((code) => ({ code, name: code }))];
}

function Form({
  id,
  name,
  close,
  changed,
  chosen,
  places,
}: Props & { readonly chosen: Chosen; readonly places: readonly Place[] }) {
  const before = (code: string): Use =>
    !chosen.locations.includes(code) ? "unused" : chosen.disabled_locations.includes(code) ? "paused" : "used";
  const uses = useSignal<Readonly<Record<string, Use>>>(
    Object.fromEntries(places.map(({ code }) => [code, before(code)])),
  );
  const partial = useSignal(chosen.notify_on_partial);
  const save = async () => {
    const codes = places.map(({ code }) => code);
    const body = {
      locations: codes.filter((code) => uses.value[code] !== "unused"),
      disabled_locations: codes.filter((code) => uses.value[code] === "paused"),
      notify_on_partial: partial.value,
    };
    await data(client.PUT("/servers/{id}/locations", { params: { path: { id } }, body }));
    say(t("act.saved", { name }));
    changed();
  };
  return (
    <Confirm title={t("locations.editTitle")} close={close} confirm={t("act.save")} act={save}>
      <p class="hint">{t("locations.editText")}</p>
      <div class="pair">
        {places.map(({ code, name: place }) => (
          <SelectField
            key={code}
            label={place === code ? code : `${place} (${code})`}
            value={uses.value[code] ?? "unused"}
            options={USES.map((use) => [use, t(`locations.use.${use}`)] as const)}
            onValue={(use) => (uses.value = { ...uses.value, [code]: use })}
          />
        ))}
      </div>
      <CheckField
        label={t("locations.partial")}
        checked={partial.value}
        onChecked={(checked) => (partial.value = checked)}
      />
    </Confirm>
  );
}
