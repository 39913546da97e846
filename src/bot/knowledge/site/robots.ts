import { EventLoopYielder } from '../../../shared/event-loop-yielder.ts';

/** The robots.txt rules that apply to Parley (RFC 9309). */
export interface RobotsRules {
  rules: readonly RobotsRule[];
  /** Seconds between two requests, if given. */
  crawlDelaySec?: number;
}

interface RobotsRule {
  isAllowed: boolean;
  /** The literal parts between asterisks. */
  pieces: readonly string[];
  /** Whether the pattern must match to the end of the path. */
  isWhole: boolean;
  chars: number;
}

interface Group {
  agents: string[];
  rules: RobotsRule[];
  crawlDelaySec?: number;
}

/** User agent name in robots.txt. */
export const ROBOT_NAME = 'parley';
/** The minimum that crawlers must read. The rest is ignored. */
const MAX_CHARS = 512_000;
/** Longer than any address. */
const MAX_LINE_CHARS = 4_096;
const LINE = /[^\r\n]+/g;
const UNRESERVED = /[\w.~-]/;

/**
 * Parses robots.txt: the groups for Parley, or else those for all crawlers. Own implementation, because existing packages
 * process all rules in one synchronous step, which takes seconds for a long file.
 */
export async function parseRobots(text: string): Promise<RobotsRules> {
  const groups = await groupsIn(text.slice(0, MAX_CHARS));
  const named = groups.filter(({ agents }) => agents.includes(ROBOT_NAME));
  const ours = named.length > 0 ? named : groups.filter(({ agents }) => agents.includes('*'));
  const delays = ours.flatMap(({ crawlDelaySec }) => crawlDelaySec ?? []);
  return {
    rules: ours.flatMap(({ rules }) => rules),
    crawlDelaySec: delays.length > 0 ? Math.max(...delays) : undefined,
  };
}

/** Whether an address may be fetched. The longest matching rule wins; on a tie, `allow` wins. */
export async function isUrlAllowed({ rules }: Pick<RobotsRules, 'rules'>, { pathname, search }: URL): Promise<boolean> {
  const path = comparable(pathname + search);
  const yielder = new EventLoopYielder();
  let heaviest: RobotsRule | undefined;
  for (const rule of rules) {
    if (yielder.isDue) await yielder.yieldNow();
    if ((!heaviest || isHeavier(rule, heaviest)) && fits(rule, path)) heaviest = rule;
  }
  return heaviest?.isAllowed ?? true;
}

async function groupsIn(text: string): Promise<Group[]> {
  const yielder = new EventLoopYielder();
  const groups: Group[] = [];
  let isNaming = false;
  for (const [line] of text.matchAll(LINE)) {
    if (yielder.isDue) await yielder.yieldNow();
    const [, written = '', value = ''] = /^\s*([\w-]{1,40})\s*:([^#]*)/.exec(line.slice(0, MAX_LINE_CHARS)) ?? [];
    const field = written.toLowerCase();
    if (field === 'user-agent') {
      if (!isNaming) groups.push({ agents: [], rules: [] });
      isNaming = true;
      groups.at(-1)?.agents.push(agentIn(value));
    } else if (['allow', 'disallow', 'crawl-delay'].includes(field)) {
      isNaming = false;
      const group = groups.at(-1);
      if (group) take(group, field, value.trim());
    }
  }
  return groups;
}

function take(group: Group, field: string, value: string): void {
  if (field === 'crawl-delay') {
    const seconds = Number(value);
    if (value !== '' && seconds >= 0) group.crawlDelaySec = seconds;
  } else if (value !== '') group.rules.push(ruleOf(field === 'allow', value));
}

/** The product name without its version. */
function agentIn(value: string): string {
  const name = value.trim();
  return name.startsWith('*') ? '*' : (/^[\w-]+/.exec(name)?.[0].toLowerCase() ?? '');
}

function ruleOf(isAllowed: boolean, written: string): RobotsRule {
  const isWhole = written.endsWith('$');
  const pattern = comparable(isWhole ? written.slice(0, -1) : written);
  return { isAllowed, pieces: pattern.split(/\*+/), isWhole, chars: written.length };
}

function isHeavier(one: RobotsRule, other: RobotsRule): boolean {
  return one.chars > other.chars || (one.chars === other.chars && one.isAllowed && !other.isAllowed);
}

/** Each part is searched once, after the previous one, so that the cost is linear in the pattern and the path. */
function fits({ pieces, isWhole }: RobotsRule, path: string): boolean {
  const [first = '', ...others] = pieces;
  if (!path.startsWith(first)) return false;
  if (others.length === 0) return !isWhole || path === first;
  const last = isWhole ? others.pop() : undefined;
  let at = first.length;
  for (const piece of others) {
    const found = path.indexOf(piece, at);
    if (found < 0) return false;
    at = found + piece.length;
  }
  return last === undefined || (path.length - last.length >= at && path.endsWith(last));
}

/** Normalizes percent-encoding. */
function comparable(path: string): string {
  return path
    .replace(/[^\0-\x7f]+/g, (letters) => Buffer.from(letters).toString('hex').replace(/../g, '%$&'))
    .replace(/%([\da-f]{2})/gi, (whole, hex: string) => {
      const letter = String.fromCharCode(parseInt(hex, 16));
      return UNRESERVED.test(letter) ? letter : whole.toUpperCase();
    });
}
