/** What of a screen stands in the tab's title, while it is open. */
import { useEffect } from "preact/hooks";
import { screenTitle, thingTitle } from "../state/title.ts";

/** @param title empty: the overview, which the product's name stands for */
export function useScreenTitle(title: string): void {
  useEffect(() => {
    screenTitle.value = title;
    return () => {
      screenTitle.value = "";
    };
  }, [title]);
}

/** @param title of the monitor, incident or page that the screen is about */
export function useThingTitle(title: string): void {
  useEffect(() => {
    thingTitle.value = title;
    return () => {
      thingTitle.value = null;
    };
  }, [title]);
}
