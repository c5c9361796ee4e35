/**
 * The look of status pages: light, dark and what the reader's system wants, by style alone. Colours are those of Okabe and Ito, which
 * colour-blind people can distinguish, darkened for text until they have a contrast of 4.5 (WCAG 2.2, 1.4.3). Pure.
 */
import type { PageSettings } from "../../model/status-page.ts";

const LIGHT =
  "--bg:#f6f7f9;--card:#fff;--line:#dfe3e8;--text:#1b222c;--soft:#556070;--link:#0b5cad;--up:#0a7d53;--slight:#7db99f;--warn:#8a6100;--warnbar:#d9a400;" +
  "--part:#96306d;--down:#b83a0c;--blue:#2563a8;--none:#c9cfd8;--upbg:#e6f4ee;--warnbg:#fdf3dc;--downbg:#fdebe4;--bluebg:#e7f0fa;--nonebg:#eceff3";
const DARK =
  "--bg:#12161c;--card:#1a2029;--line:#2d3541;--text:#e7ebf0;--soft:#a3aebc;--link:#7db8f5;--up:#3ecf98;--slight:#2c7d61;--warn:#f0b429;--warnbar:#d9a400;" +
  "--part:#ee93c3;--down:#ff8a61;--blue:#82b7f0;--none:#46505e;--upbg:#14302a;--warnbg:#33290f;--downbg:#3a1f16;--bluebg:#172a40;--nonebg:#262d37";

const RULES = `
*{box-sizing:border-box}
html{color-scheme:light dark;-webkit-text-size-adjust:100%}
body{margin:0;background:var(--bg);color:var(--text);font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,Arial,sans-serif;overflow-wrap:anywhere}
a{color:var(--link);text-underline-offset:.15em}
a:focus-visible,summary:focus-visible,:is(input,button):focus-visible{outline:3px solid var(--link);outline-offset:2px;border-radius:4px}
h1,h2,h3,p,ul,ol,dl{margin:0}
h1{font-size:1.375rem;line-height:1.25;font-weight:700}
h2{font-size:1.0625rem;line-height:1.3;font-weight:650;margin:0 0 .625rem}
h3{font-size:1rem;font-weight:600}
ul,ol{padding:0;list-style:none}
svg.i{width:1.125rem;height:1.125rem;flex:none;vertical-align:-.2em}
.defs{position:absolute;width:0;height:0}
.skip{position:absolute;inset-inline-start:-999px}
.skip:focus{inset-inline-start:1rem;top:.5rem;background:var(--card);padding:.5rem 1rem;z-index:1}
.page{max-width:54rem;margin:0 auto;padding:0 1rem 2.5rem}
.page>*+*,main>*+*{margin-top:1.75rem}
header{display:flex;align-items:center;gap:.75rem;flex-wrap:wrap;padding-top:1.5rem;border-top:4px solid var(--accent)}
header img{max-height:2.5rem;max-width:12rem;display:block}
.card,.group{background:var(--card);border:1px solid var(--line);border-radius:.625rem}
.card{padding:.875rem 1rem}
.card+.card,.group+.group{margin-top:.75rem}
.head{display:flex;align-items:center;gap:.625rem;flex-wrap:wrap;padding:1rem;border-radius:.625rem;border:1px solid;font-weight:650;font-size:1.125rem}
.head .i{width:1.5rem;height:1.5rem}
.head time{margin-inline-start:auto;font-weight:400;font-size:.875rem;color:var(--text)}
.head.works{color:var(--up);background:var(--upbg)}
.head.degraded{color:var(--warn);background:var(--warnbg)}
.head.partial,.head.down{color:var(--down);background:var(--downbg)}
.head.maintenance{color:var(--blue);background:var(--bluebg)}
.head.unknown,.head.paused{color:var(--text);background:var(--nonebg)}
.works>.i,.state.works{color:var(--up)}.degraded>.i,.state.degraded{color:var(--warn)}.partial>.i,.state.partial{color:var(--part)}
.down>.i,.state.down{color:var(--down)}.maintenance>.i,.state.maintenance{color:var(--blue)}.unknown>.i,.paused>.i,.state.unknown,.state.paused{color:var(--soft)}
.head>.i{color:inherit}
header+.words{margin-top:.625rem}
.old{background:var(--warnbg);border-color:var(--warn)}
.soft{color:var(--soft);font-size:.875rem}
summary{display:flex;align-items:center;gap:.625rem;min-height:3rem;padding:.625rem 1rem;cursor:pointer;list-style:none}
summary::-webkit-details-marker{display:none}
summary h3{flex:1;min-width:0}
summary:before{content:"";width:.5rem;height:.5rem;border:solid var(--soft);border-width:0 2px 2px 0;transform:rotate(-45deg);flex:none}
[dir=rtl] summary:before{transform:rotate(135deg)}
details[open]>summary:before{transform:rotate(45deg)}
.lines{border-top:1px solid var(--line)}
.line{display:grid;grid-template-columns:1fr auto;gap:.125rem .75rem;padding:.75rem 1rem;align-items:center}
.line+.line{border-top:1px solid var(--line)}
.name{min-width:0;font-weight:500}
.state{font-size:.875rem;font-weight:600;text-align:end;display:flex;gap:.375rem;align-items:center;justify-content:flex-end}
.bar{grid-column:1/-1;display:block;width:100%;height:1.75rem}
.bar path{fill:none;stroke-dasharray:3 1;stroke:var(--none);stroke-width:6}
.bar .up{stroke:var(--up);stroke-width:16}.bar .slight{stroke:var(--slight);stroke-width:19}.bar .bad{stroke:var(--warnbar);stroke-width:22}
.bar .worse{stroke:var(--down);stroke-width:26}.bar .maintenance{stroke:var(--blue);stroke-width:12}
.about{grid-column:1/-1;display:flex;gap:.75rem;justify-content:space-between}
.about>:nth-child(2){flex:1;text-align:center}.about>:first-child,.about>:last-child{white-space:nowrap}
.num{font-variant-numeric:tabular-nums;white-space:nowrap}
.told>*+*{margin-top:.5rem}
.words>*+*{margin-top:.5rem}
.words ul,.words ol{padding-inline-start:1.25rem;list-style:disc}.words ol{list-style:decimal}
.words pre{overflow:auto;background:var(--nonebg);padding:.5rem .75rem;border-radius:.375rem}
.words img{max-width:100%}
.words h1,.words h2{font-size:1rem}
.words blockquote{margin:.5rem 0 0;padding-inline-start:.75rem;border-inline-start:3px solid var(--line)}
.past li{display:grid;grid-template-columns:4.5rem 1fr;gap:.125rem .75rem;padding:.625rem 0}
.past li+li{border-top:1px solid var(--line)}
.past .more{grid-column:2}
.notes li+li{margin-top:1rem}
dl{display:grid;grid-template-columns:auto 1fr;gap:.25rem 1rem}
dt{color:var(--soft)}dd{margin:0}
footer{display:flex;flex-wrap:wrap;gap:.25rem 1.25rem;justify-content:space-between;border-top:1px solid var(--line);padding-top:1rem;font-size:.875rem;color:var(--soft)}
footer nav{display:flex;flex-wrap:wrap;gap:.25rem 1.25rem}
footer a,footer span{display:inline-block;padding:.25rem 0;min-height:1.5rem}
form{display:grid;gap:.75rem;max-width:22rem}
label{font-weight:600}
input,button{font:inherit;padding:.625rem .75rem;border-radius:.375rem;border:1px solid var(--soft);background:var(--card);color:inherit}
button{background:var(--link);border-color:var(--link);color:var(--card);font-weight:600;cursor:pointer}
.wrong{color:var(--down);font-weight:600}
@media(min-width:44rem){
h1{font-size:1.625rem}
.line{grid-template-columns:13rem 1fr 8.5rem;gap:.125rem 1.25rem}
.name{grid-row:1}.bar{grid-column:2;grid-row:1}.state{grid-column:3;grid-row:1}
.about{grid-column:2}
.past li{grid-template-columns:6rem 1fr auto}.past .more{grid-column:auto;text-align:end}
}
`;

/** The page's style, with its own additions. @param added by a person, as it was written */
export function styleOf({ theme, accent }: Pick<PageSettings, "theme" | "accent">, added: string | null): string {
  const roots =
    theme === "auto"
      ? `:root{${LIGHT}}@media(prefers-color-scheme:dark){:root{${DARK}}}`
      : `:root{${theme === "dark" ? DARK : LIGHT}}html{color-scheme:${theme}!important}`;
  const rules = RULES.trim().replaceAll("\n", "");
  return `:root{--accent:${accent}}${roots}${rules}${added === null ? "" : `\n${added}`}`;
}
