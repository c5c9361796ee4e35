/** A dialog whose code comes when it is first asked for: it is no part of the first load. */
import { useSignal } from "@preact/signals";
import type { ComponentType } from "preact";
import { useEffect } from "preact/hooks";
import { say } from "../state/notices.ts";
import { t } from "../words/words.ts";

export function later<P extends { readonly close: () => void }>(
  load: () => Promise<ComponentType<P>>,
): ComponentType<P> {
  let loaded: ComponentType<P> | null = null;
  return function Later(props: P) {
    const isThere = useSignal(loaded !== null);
    useEffect(() => {
      if (loaded !== null) return;
      load().then(
        (component) => {
          loaded = component;
          isThere.value = true;
        },
        () => {
          props.close();
          say(t("shell.outdated"), true);
        },
      );
    }, []);
    const Dialog = loaded;
    return isThere.value && Dialog !== null ? <Dialog {...props} /> : null;
  };
}
