/** Workspaces and projects that the signed-in person reaches, and as what. */
import { client, data } from "../api/client.ts";
import { useResource } from "../api/resource.ts";
import { Show } from "../parts/states.tsx";
import { go } from "../state/route.ts";
import { isAdmin, openProject, project } from "../state/session.ts";
import { t } from "../words/words.ts";
import { Members } from "./members.tsx";
import { SettingsHead } from "./settings.tsx";

export function Workspace() {
  const both = useResource(async (signal) => {
    const [{ organizations }, { projects }] = await Promise.all([
      data(client.GET("/organizations", { signal })),
      data(client.GET("/projects", { signal })),
    ]);
    return { organizations, projects };
  }, "workspace");
  return (
    <div class="screen">
      <SettingsHead title="nav.workspace" />
      <Show resource={both} rows={6}>
        {({ organizations, projects }) =>
          organizations.map(({ id, name, role, plan }) => (
            <section class="card" key={id} aria-label={name}>
              <header class="card-head">
                <h2 dir="auto">{name}</h2>
                <span class="faint">{`${t(`role.${role}`)} · ${t("usage.plan", { plan })}`}</span>
              </header>
              <ul class="plain-list">
                {projects
                  .filter(({ organization_id: of }) => of === id)
                  .map((one) => (
                    <li key={one.id} class="project-line">
                      <b dir="auto">{one.name}</b>
                      <span class="faint">{t("verdict.watched", { n: one.server_count })}</span>
                      {one.id === project.value?.id ? (
                        <span class="tag quiet">{t("workspace.open")}</span>
                      ) : (
                        <button
                          type="button"
                          class="button small"
                          aria-label={t("workspace.openOf", { name: one.name })}
                          onClick={() => {
                            openProject(one.id);
                            go("/");
                          }}
                        >
                          {t("workspace.openAct")}
                        </button>
                      )}
                    </li>
                  ))}
              </ul>
            </section>
          ))
        }
      </Show>
      {isAdmin.value && <Members />}
    </div>
  );
}
