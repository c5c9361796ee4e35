import "./look/base.css";
import "./look/parts.css";
import "./look/lists.css";
import "./look/frame.css";
import "./look/screens.css";
import "./look/details.css";
import "./look/telling.css";
import "./look/narrow.css";
import { effect, untracked } from "@preact/signals";
import { render } from "preact";
import { openProjectId } from "./api/client.ts";
import { followProject } from "./api/live.ts";
import { later } from "./parts/later.tsx";
import { Shell } from "./parts/shell.tsx";
import { Skeleton } from "./parts/states.tsx";
import { SignIn, SignInAgain, Unreachable } from "./screens/sign-in.tsx";
import { followTheme } from "./state/prefs.ts";
import { incidentNews, loadOverview, takeChanges } from "./state/project.ts";
import { followAddress, go, route } from "./state/route.ts";
import { hasEnded, project, resumeSession, session } from "./state/session.ts";
import { followShortcuts } from "./state/shortcuts.ts";
import { followTitle } from "./state/title.ts";
import { followLanguage } from "./words/words.ts";

const PublicCheck = later(async () => (await import("./screens/public-check.tsx")).PublicCheck);

function App() {
  switch (session.value.kind) {
    case "asking":
      return <Skeleton rows={8} />;
    case "unreachable":
      return <Unreachable error={session.value.error} />;
    case "out":
      return route.value.path === "/check/public" ? <PublicCheck close={() => go("/")} /> : <SignIn />;
    case "in":
      return (
        <>
          <Shell key={session.value.session.user.id} />
          {hasEnded.value && <SignInAgain />}
        </>
      );
  }
}

followTheme();
followLanguage();
followAddress();
followShortcuts();
followTitle();
effect(() => {
  const id = project.value?.id;
  openProjectId.value = id ?? null;
  if (id === undefined || hasEnded.value) return;
  return untracked(() =>
    followProject(id, {
      reload: loadOverview,
      changes: takeChanges,
      incident: () => incidentNews.value++,
    }),
  );
});
const host = document.getElementById("app");
if (host !== null) render(<App />, host);
void resumeSession();
