/** By a key that is pasted once, or by the code of a one-time link, which is used up only by the button. */
import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { ApiError, messageOf } from "../api/client.ts";
import { useModal } from "../parts/dialog.tsx";
import { Icon } from "../parts/icon.tsx";
import { go, replaceParameter, route } from "../state/route.ts";
import { resumeSession, signIn } from "../state/session.ts";
import { t } from "../words/words.ts";
import { OtherWays, providerFailure } from "./sign-in-ways.tsx";

export function SignIn() {
  return (
    <main class="sign-in">
      <SignInForm foot={<a href="#/check/public">{t("signIn.check")}</a>} />
    </main>
  );
}

/** Over whatever is open, when its session has ended. */
export function SignInAgain() {
  const dialog = useRef<HTMLDialogElement>(null);
  useModal(dialog);
  useEffect(() => {
    // A browser closes a dialog that has prevented it once, and the next Escape would close the form behind.
    const stay = (event: KeyboardEvent) => event.key === "Escape" && event.preventDefault();
    addEventListener("keydown", stay, { capture: true });
    return () => removeEventListener("keydown", stay, { capture: true });
  }, []);
  return (
    <dialog
      ref={dialog}
      class="sign-in again"
      aria-label={t("signIn.title")}
      onCancel={(event) => event.preventDefault()}
      // As the gesture of a phone that goes back.
      onClose={({ currentTarget }) => currentTarget.isConnected && currentTarget.showModal()}
    >
      <SignInForm hint={t("signIn.ended")} />
    </dialog>
  );
}

function SignInForm({ hint, foot }: { hint?: string; foot?: ComponentChildren }) {
  const code = route.value.path === "/sign-in" ? route.value.query.get("code") : null;
  const key = useSignal("");
  const error = useSignal<string | null>(null);
  const shown = error.value ?? providerFailure();
  const busy = useSignal(false);
  const submit = async (event: Event) => {
    event.preventDefault();
    if (busy.value) return;
    busy.value = true;
    error.value = null;
    try {
      await signIn(code === null ? { key: key.value.trim() } : { code });
    } catch (reason) {
      error.value = messageOf(reason);
    }
    // Used up or not, the code is of no more use in the address, where a person could copy it.
    if (code !== null) replaceParameter("code", "");
    if (error.value === null && location.hash.startsWith("#/sign-in")) go("/");
    busy.value = false;
  };
  return (
    <form class="card" onSubmit={submit}>
      <p class="brand big">
        <Icon name="activity" size={26} />
        <span>Sonde</span>
      </p>
      <h1>{t("signIn.title")}</h1>
      {hint !== undefined && <p class="hint">{hint}</p>}
      {code === null ? (
        <KeyField value={key.value} onValue={(text) => (key.value = text)} />
      ) : (
        <p>{t("signIn.code")}</p>
      )}
      {shown !== null && (
        <p class="form-error" role="alert">
          {shown}
        </p>
      )}
      <button type="submit" class="button primary wide" aria-disabled={busy.value}>
        {t("signIn.act")}
      </button>
      {code === null && <OtherWays failed={(message) => (error.value = message)} />}
      {foot !== undefined && <p class="sign-in-or">{foot}</p>}
    </form>
  );
}

function KeyField({ value, onValue }: { value: string; onValue: (text: string) => void }) {
  return (
    <div class="field">
      <label for="key">{t("signIn.key")}</label>
      <input
        id="key"
        type="text"
        class="hidden-text"
        autoComplete="off"
        spellcheck={false}
        required
        aria-describedby="key-hint"
        value={value}
        onInput={(event) => onValue(event.currentTarget.value)}
      />
      <p class="hint" id="key-hint">
        {t("signIn.keyHint")}
      </p>
    </div>
  );
}

/** Between two attempts, ms. */
const TRY_AGAIN_MS = 5_000;

/** It tries again by itself too: a service that restarts is away for a moment. */
export function Unreachable({ error }: { error: unknown }) {
  useEffect(() => {
    const timer = setInterval(() => document.hidden || void resumeSession(), TRY_AGAIN_MS);
    return () => clearInterval(timer);
  }, []);
  return (
    <main class="sign-in">
      <div class="card">
        <h1>{t("unreachable.title")}</h1>
        {/* It may have failed before the words of the language were there. */}
        <p role="alert">{error instanceof ApiError && error.status === 0 ? t("unreachable.text") : messageOf(error)}</p>
        <button type="button" class="button primary" onClick={() => void resumeSession()}>
          {t("act.tryAgain")}
        </button>
      </div>
    </main>
  );
}
