/** A native dialog, named by its act. The last button that is not Cancel confirms. */
import { type Signal, useSignal } from "@preact/signals";
import type { ComponentChildren, RefObject } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";
import { messageOf } from "../api/client.ts";
import { say } from "../state/notices.ts";
import { parseHash, staysHere } from "../state/route.ts";
import { t } from "../words/words.ts";
import type { FormFault } from "./form-fault.ts";
import { Working } from "./working.tsx";

interface DialogProps {
  readonly title: string;
  readonly close: () => void;
  readonly children: ComponentChildren;
  readonly wide?: boolean;
  /** Asked before Escape closes it. @returns whether it stays open */
  readonly stays?: () => boolean;
}

/** Opens the dialog above everything else, and gives the focus back to where it was; to the screen, where that is gone or another is opened. */
export function useModal(dialog: RefObject<HTMLDialogElement>): void {
  useEffect(() => {
    const opener = document.activeElement;
    const { path } = parseHash(location.hash);
    const element = dialog.current;
    element?.showModal();
    return () => {
      // While it is open, nothing outside takes the focus.
      element?.close();
      const isThere = opener instanceof HTMLElement && opener.isConnected && opener !== document.body;
      (isThere && parseHash(location.hash).path === path ? opener : document.getElementById("main"))?.focus();
    };
  }, [dialog]);
}

/** @returns whether what calls it is still there */
export function useOpen() {
  const isOpen = useRef(true);
  useEffect(
    () => () => {
      isOpen.current = false;
    },
    [],
  );
  return isOpen;
}

export function Dialog({ title, close, children, wide = false, stays }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  useModal(dialog);
  return (
    <dialog
      ref={dialog}
      class={wide ? "dialog wide" : "dialog"}
      aria-labelledby={titleId}
      onCancel={(event) => {
        event.preventDefault();
        if (stays?.() !== true) close();
      }}
      // A browser that was kept from it once closes it by itself.
      onClose={({ currentTarget }) => {
        if (!currentTarget.isConnected) return;
        if (stays?.() === true) currentTarget.showModal();
        else close();
      }}
    >
      <h2 id={titleId}>{title}</h2>
      {children}
    </dialog>
  );
}

/** Asked before a step back, too. The next dialog may be open before this one is gone. */
export function useStaysHere(stays: () => boolean): void {
  const latest = useRef(stays);
  latest.current = stays;
  useEffect(() => {
    const ask = () => latest.current();
    staysHere.current = ask;
    return () => {
      if (staysHere.current === ask) staysHere.current = null;
    };
  }, []);
}

/** What is written in a dialog is not lost by one key, nor by one step back: the second leaves it. */
function useUnsaved(busy: Signal<boolean>) {
  const isWritten = useRef(false);
  const isAsking = useSignal(false);
  const stays = () => {
    if (!isWritten.current || isAsking.value || busy.value) return false;
    isAsking.value = true;
    return true;
  };
  useStaysHere(stays);
  const written = () => {
    isWritten.current = true;
    isAsking.value = false;
  };
  const forget = () => {
    isWritten.current = false;
  };
  return { isAsking, written, stays, forget };
}

/** Asks before an act, and stays with the API's words when the act is refused. */
export function Confirm({
  title,
  close,
  confirm,
  danger = false,
  act,
  fault,
  children,
}: {
  title: string;
  close: () => void;
  confirm: string;
  danger?: boolean;
  act: () => Promise<unknown>;
  /** Where fields show what is said of them. */
  fault?: FormFault;
  children: ComponentChildren;
}) {
  const form = useRef<HTMLFormElement>(null);
  const error = useSignal<string | null>(null);
  const busy = useSignal(false);
  const isOpen = useOpen();
  const { isAsking, written, stays, forget } = useUnsaved(busy);
  const submit = async (event: Event) => {
    event.preventDefault();
    if (busy.value) return;
    busy.value = true;
    error.value = null;
    fault?.clear();
    try {
      await act();
      forget();
      close();
    } catch (reason) {
      // Who has closed it meanwhile would take it for done.
      if (!isOpen.current) say(messageOf(reason), true);
      else if (fault?.refuse(reason, form.current) !== true) error.value = messageOf(reason);
    } finally {
      busy.value = false;
    }
  };
  return (
    <Dialog title={title} close={close} stays={stays}>
      <form ref={form} onSubmit={submit} onInput={written}>
        {children}
        {busy.value && <Working />}
        {isAsking.value && <Told>{t("dialog.unsaved")}</Told>}
        {error.value !== null && <Told>{error.value}</Told>}
        <div class="dialog-acts">
          <button type="button" class="button" onClick={close}>
            {t("act.cancel")}
          </button>
          <button type="submit" class={danger ? "button danger" : "button primary"} aria-disabled={busy.value}>
            {confirm}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

export function Told({ children }: { children: string }) {
  return (
    <p class="form-error" role="alert">
      {children}
    </p>
  );
}
