/**
 * Templates in Liquid, for own texts of messages. Their author may be hostile, and rendering runs on a thread that answers others:
 * so its length, its steps, what it makes and what it searches are bounded, and no file is read. Pure but for the clock of its time limit.
 */
import {
  Context,
  defaultOperators,
  Liquid,
  type Parser,
  Tag,
  type TagToken,
  type Template,
  TokenKind,
  type TopLevelToken,
} from "liquidjs";
import { isAllOver, type Message } from "../../model/alert-message.ts";
import { itemText, plainLines } from "./channels/tidy.ts";

/** Characters of a template; our choice: Uptime Kuma's longest examples have a tenth of it. */
export const MOST_TEMPLATE = 8_192;
/** Characters of what comes out; our choice: more than any service takes of a message. */
export const MOST_RENDERED = 65_536;
/** Parts and filters that the templates of one message may evaluate; an ordinary one has some dozens, with twenty items some hundreds. The most expensive take 20 to 30 ms of a processor. */
const STEPS = 10_000;
/** Characters of a tag that take as long as a step: a long condition, or a hundred arguments, are one part. */
const STEP_CHARACTERS = 5;
/** For them together, ms, looked at with each part: what steps do not bound. */
const RENDER_MS = 250;
/** Characters and members that filters, ranges and captures of one rendering make together. */
const MADE = 131_072;
/** Comparisons of characters that searches of one rendering may need at worst: some 10 ms. */
const SEARCHED = 20_000_000;

/** A template that cannot be used; the message says why, in a line. */
export class TemplateError extends Error {
  override readonly name = "TemplateError";
  /** This machine was too busy: it may go well the next time. */
  readonly isPassing: boolean;

  constructor(message: string, isPassing = false) {
    super(message);
    this.isPassing = isPassing;
  }
}

class TooSlow extends Error {}

/** Filters whose cost is linear in what they are given. Those that take expressions, or search by patterns with repetition, are left out. */
const FILTERS: ReadonlySet<string> = new Set(
  `escape xml_escape escape_once newline_to_br abs at_least at_most ceil divided_by floor minus plus modulo times round url_decode url_encode
  join last first reverse sort sort_natural size map sum compact concat slice where uniq date append prepend lstrip downcase upcase remove
  remove_first remove_last rstrip split strip strip_newlines capitalize replace replace_first replace_last truncate truncatewords
  base64_encode base64_decode sha256 hmac_sha256 default raw jsonify json to_integer`.split(/\s+/),
);
/** They look for their first argument in the text. */
const SEARCHING: ReadonlySet<string> = new Set([
  "remove",
  "remove_first",
  "remove_last",
  "split",
  "replace",
  "replace_first",
  "replace_last",
]);
/** They read other templates. */
const READING_TAGS = ["include", "render", "layout", "block"] as const;

/** Rendering is synchronous, so that there is one at a time. */
let current: Rendering | null = null;

function search(text: unknown, pattern: unknown): void {
  current?.search(String(text ?? "").length * Math.max(1, String(pattern ?? "").length));
}

/** Counts each part as it is come to. */
function* evaluated(templates: readonly Template[]): Generator<Template> {
  for (const template of templates) {
    current?.evaluate(template);
    yield template;
  }
}

/** As the tag of the library, but what it keeps counts as made: the output of a loop is counted by nothing else. */
class BoundedCapture extends Tag {
  readonly #variable: string;
  readonly #templates: Template[] = [];

  constructor(token: TagToken, remaining: TopLevelToken[], liquid: Liquid, parser: Parser) {
    super(token, remaining, liquid);
    this.#variable = this.tokenizer.readIdentifier().content;
    if (this.#variable === "") throw new Error("capture needs a name");
    for (let next = remaining.shift(); next !== undefined; next = remaining.shift()) {
      if ((next as Partial<TagToken>).name === "endcapture") return;
      this.#templates.push(parser.parseToken(next, remaining));
    }
    throw new Error("capture is not closed");
  }

  *render(context: Context): Generator<unknown, void, string> {
    const text = yield this.liquid.renderer.renderTemplates(this.#templates, context);
    context.memoryLimit.use(text.length);
    (context.bottom() as Record<string, unknown>)[this.#variable] = text;
  }
}

function makeEngine(): Liquid {
  const engine = new Liquid({
    parseLimit: MOST_TEMPLATE,
    memoryLimit: MADE,
    ownPropertyOnly: true,
    strictFilters: true,
    templates: {},
    timezoneOffset: 0,
    operators: {
      ...defaultOperators,
      contains(text: unknown, part: unknown, ...rest: unknown[]) {
        search(text, part);
        return (defaultOperators.contains as (...all: unknown[]) => boolean)?.call(this, text, part, ...rest);
      },
    },
  });
  const { renderer } = engine;
  const renderAll = renderer.renderTemplates.bind(renderer);
  // It only goes over them, once.
  renderer.renderTemplates = (templates, ...others) =>
    renderAll(evaluated(templates) as unknown as Template[], ...others);
  for (const tag of READING_TAGS) delete engine.tags[tag];
  engine.registerTag("capture", BoundedCapture);
  for (const name of Object.keys(engine.filters)) {
    if (!FILTERS.has(name)) delete engine.filters[name];
  }
  for (const [name, filter] of Object.entries(engine.filters)) {
    // The others are how a value is written, and cost what it has.
    if (typeof filter === "function") engine.registerFilter(name, counted(filter, SEARCHING.has(name)));
  }
  return engine;
}

type Filter = (this: FilterSelf, ...all: unknown[]) => unknown;
interface FilterSelf {
  readonly context: Context;
}

function counted(filter: unknown, isSearch: boolean): Filter {
  return function (this: FilterSelf, ...all: unknown[]) {
    this.context.renderLimit.check(0);
    if (isSearch) search(all[0], all[1]);
    return (filter as Filter).apply(this, all);
  };
}

const ENGINE = makeEngine();
/** They evaluate further tags, which are no parts of their own. */
const BRANCHED: ReadonlySet<string> = new Set(["if", "unless", "case"]);
const BRANCH = /\b(?:elsif|when)\b(?:(?![%\n]).)*/g;

/** @throws TemplateError */
export function parseTemplate(text: string): readonly Template[] {
  if (text.length > MOST_TEMPLATE) throw new TemplateError(`has more than ${MOST_TEMPLATE} characters`);
  try {
    return ENGINE.parse(text);
  } catch (error) {
    throw new TemplateError(wordsOf(error));
  }
}

/** Templates of one message: what one of them takes, the others have no more. */
export class Rendering {
  readonly #context: Readonly<Record<string, unknown>>;
  readonly #first: Context;
  #steps = 0;
  /** Characters of all branches of the template that is rendered. */
  #branches = 0;
  #begunAtMs = 0;
  #searchable = SEARCHED;

  constructor(context: Readonly<Record<string, unknown>>) {
    this.#context = context;
    this.#first = new Context({}, ENGINE.options, { sync: true });
    this.#first.renderLimit.check = (nowMs) => this.#step(nowMs);
  }

  /** @throws TemplateError: it cannot be read, or took or made too much */
  render(text: string): string {
    const parsed = parseTemplate(text);
    const { memoryLimit, renderLimit } = this.#first;
    const limits = { memoryLimit, renderLimit, liquid: ENGINE };
    let rendered: unknown;
    this.#branches = text.match(BRANCH)?.join("").length ?? 0;
    current = this;
    try {
      const scope = new Context({ ...this.#context }, ENGINE.options, { sync: true }, limits);
      rendered = ENGINE.renderSync([...parsed], scope);
    } catch (error) {
      throw new TemplateError(wordsOf(error), isSlow(error));
    } finally {
      current = null;
    }
    if (typeof rendered !== "string" || rendered.length > MOST_RENDERED) {
      throw new TemplateError(`makes more than ${MOST_RENDERED} characters`);
    }
    return rendered;
  }

  /** @param comparisons of characters, at worst */
  search(comparisons: number): void {
    this.#searchable -= comparisons;
    if (this.#searchable < 0) throw new Error("search limit exceeded");
  }

  evaluate({ token }: Template): void {
    if (token.kind === TokenKind.HTML) return;
    const isBranched = token.kind === TokenKind.Tag && BRANCHED.has((token as TagToken).name);
    this.#take((token.end - token.begin + (isBranched ? this.#branches : 0)) / STEP_CHARACTERS);
  }

  #take(steps: number): void {
    this.#steps += steps;
    if (this.#steps > STEPS) throw new Error("render limit exceeded");
  }

  /** @param nowMs monotonic, as the library gives it with each part; 0: not given */
  #step(nowMs: number): void {
    this.#take(1);
    if (nowMs === 0) return;
    if (this.#begunAtMs === 0) this.#begunAtMs = nowMs;
    if (nowMs - this.#begunAtMs > RENDER_MS) throw new TooSlow("render time exceeded");
  }
}

/** The library puts the cause into an error of its own. */
function isSlow(error: unknown): boolean {
  return error instanceof TooSlow || (error as { readonly originalError?: unknown }).originalError instanceof TooSlow;
}

/** One line; the library adds the template around the place. */
function wordsOf(error: unknown): string {
  const [line = ""] = (error instanceof Error ? error.message : String(error)).split("\n", 1);
  return line.slice(0, 300);
}

/**
 * What a template knows. `status`, `name`, `msg`, `hostnameOrURL`, `monitorJSON` and `heartbeatJSON` are called as Uptime Kuma calls them, so that
 * templates from there can be brought along; a message says nothing of a target's address.
 */
export function templateContext(message: Message): Readonly<Record<string, unknown>> {
  const [first] = message.items;
  const text = plainLines(message).join("\n");
  const name = first?.name ?? message.title;
  const isUp = message.severity === "ok" || isAllOver(message);
  return {
    message: {
      reason: message.reason,
      severity: message.severity,
      title: message.title,
      summary: message.summary,
      text,
      facts: message.facts.map(([fact, value]) => ({ name: fact, value })),
      items: message.items.map((item) => ({ ...item, text: itemText(item) })),
      more: message.more,
      link: message.link,
      acknowledge: message.acknowledge,
      group: message.groupKey,
      at: message.at,
    },
    monitor: first === undefined ? null : { ...first },
    incident: { link: message.link, at: message.at },
    status: isUp ? "✅ Up" : "🔴 Down",
    name,
    msg: text === "" ? message.title : `${message.title}\n${text}`,
    hostnameOrURL: "",
    monitorJSON: { id: first?.id ?? null, name, url: "", hostname: "" },
    heartbeatJSON: { status: isUp ? 1 : 0, time: message.at, msg: message.title, ping: null },
  };
}
