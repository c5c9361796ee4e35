/** The way to the provider of identities, where one is set up, and what is told to people who came back from there without a session. */
import { useSignal } from "@preact/signals";
import { client, data, messageOf } from "../api/client.ts";
import { useResource } from "../api/resource.ts";
import { route } from "../state/route.ts";
import { t } from "../words/words.ts";

/** As the API words them in the address that it leads back to. */
const FAILURES = [
  ...(["again", "denied", "provider", "email", "nobody"] as const),
  ...(["other", "inactive", "none", "full", "busy"] as const),
] as const;

/** Why nobody is signed in, in words; null where nothing failed. */
export function providerFailure(): string | null {
  const word = route.value.path === "/sign-in" ? route.value.query.get("failed") : null;
  const known = FAILURES.find((one) => one === word);
  return known === undefined ? null : t(`signIn.failed.${known}`);
}

/** @param failed told what went wrong on the way there */
export function ProviderButton({ failed }: { failed: (message: string) => void }) {
  const busy = useSignal(false);
  const ways = useResource((signal) => data(client.GET("/sign-in", { signal })), "sign-in");
  const name = ways.state.value.value?.oidc?.name;
  if (name === undefined) return null;
  const leave = async () => {
    if (busy.value) return;
    busy.value = true;
    try {
      location.assign((await data(client.POST("/session/oidc"))).url);
    } catch (reason) {
      failed(messageOf(reason));
      busy.value = false;
    }
  };
  return (
    <>
      <p class="sign-in-or faint">{t("signIn.or")}</p>
      <button type="button" class="button wide" aria-disabled={busy.value} onClick={() => void leave()}>
        {t("signIn.provider", { name })}
      </button>
    </>
  );
}
