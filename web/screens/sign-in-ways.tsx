/** Other ways to sign in than a key, as they are set up: a passkey, and the provider of identities; and why people come back from there without a session. */
import { useSignal } from "@preact/signals";
import { client, data, messageOf } from "../api/client.ts";
import { useResource } from "../api/resource.ts";
import { Icon } from "../parts/icon.tsx";
import { answerPasskey, hasPasskeys, isGivenUp } from "../state/passkeys.ts";
import { go, route } from "../state/route.ts";
import { signIn } from "../state/session.ts";
import { t } from "../words/words.ts";

/** As the API words them in the address that it leads back to. */
const FAILURES = [
  ...(["again", "denied", "provider", "email", "unknown"] as const),
  ...(["other", "inactive", "none", "full", "busy"] as const),
] as const;

/** Why no one is signed in, in words; null where nothing failed. */
export function providerFailure(): string | null {
  const word = route.value.path === "/sign-in" ? route.value.query.get("failed") : null;
  const known = FAILURES.find((one) => one === word);
  return known === undefined ? null : t(`signIn.failed.${known}`);
}

/** @param failed told what went wrong on the way there; null: a new attempt begins */
export function OtherWays({ failed }: { failed: (message: string | null) => void }) {
  const busy = useSignal(false);
  const ways = useResource((signal) => data(client.GET("/sign-in", { signal })), "sign-in");
  const { oidc = null, passkeys = false } = ways.state.value.value ?? {};
  const hasPasskey = passkeys && hasPasskeys();
  if (oidc === null && !hasPasskey) return null;
  const attempt = async (act: () => Promise<void>) => {
    if (busy.value) return;
    busy.value = true;
    failed(null);
    try {
      await act();
    } catch (reason) {
      if (!isGivenUp(reason)) failed(messageOf(reason));
    }
    busy.value = false;
  };
  const byPasskey = async () => {
    await signIn(await answerPasskey());
    if (location.hash.startsWith("#/sign-in")) go("/");
  };
  const byProvider = async () => location.assign((await data(client.POST("/session/oidc"))).url);
  return (
    <>
      <p class="sign-in-or faint">{t("signIn.or")}</p>
      {hasPasskey && (
        <button type="button" class="button wide" aria-disabled={busy.value} onClick={() => void attempt(byPasskey)}>
          <Icon name="key-round" size={16} /> {t("signIn.passkey")}
        </button>
      )}
      {oidc !== null && (
        <button type="button" class="button wide" aria-disabled={busy.value} onClick={() => void attempt(byProvider)}>
          {t("signIn.provider", { name: oidc.name })}
        </button>
      )}
    </>
  );
}
