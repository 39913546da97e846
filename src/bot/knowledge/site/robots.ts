import { Breath } from '../../../shared/event-loop-yielder.ts';

/** What a site's robots.txt asks of us (RFC 9309). */
export interface RobotsRules {
  rules: readonly RobotsRule[];
  /** Seconds between two requests, as far as it says so. */
  crawlDelaySec?: number;
}

interface RobotsRule {
  isAllowed: boolean;
  /** What stands between its asterisks. */
  pieces: readonly string[];
  /** Ends where the path does. */
  isWhole: boolean;
  chars: number;
}

interface Group {
  agents: string[];
  rules: RobotsRule[];
  crawlDelaySec?: number;
}

/** By this name sites may speak to us. */
export const ROBOT_NAME = 'parley';
/** As much as every robot has to read; what stands behind it does not count. */
const MOST_CHARS = 512_000;
/** More than an address has. */
const MOST_LINE_CHARS = 4_096;
const LINE = /[^\r\n]+/g;
const UNRESERVED = /[\w.~-]/;

/**
 * Reads robots.txt: the groups that name us, else those for everybody. The kept packages look at all rules in one go, which a long
 * file makes take seconds, so this is our own.
 */
export async function parseRobots(text: string): Promise<RobotsRules> {
  const groups = await groupsIn(text.slice(0, MOST_CHARS));
  const named = groups.filter(({ agents }) => agents.includes(ROBOT_NAME));
  const ours = named.length > 0 ? named : groups.filter(({ agents }) => agents.includes('*'));
  const delays = ours.flatMap(({ crawlDelaySec }) => crawlDelaySec ?? []);
  return {
    rules: ours.flatMap(({ rules }) => rules),
    crawlDelaySec: delays.length > 0 ? Math.max(...delays) : undefined,
  };
}

/** Whether an address may be asked: by the longest rule that fits it, and by leave where two are as long. */
export async function mayAsk({ rules }: Pick<RobotsRules, 'rules'>, { pathname, search }: URL): Promise<boolean> {
  const path = comparable(pathname + search);
  const breath = new Breath();
  let heaviest: RobotsRule | undefined;
  for (const rule of rules) {
    if (breath.isDue) await breath.take();
    if ((!heaviest || isHeavier(rule, heaviest)) && fits(rule, path)) heaviest = rule;
  }
  return heaviest?.isAllowed ?? true;
}

async function groupsIn(text: string): Promise<Group[]> {
  const breath = new Breath();
  const groups: Group[] = [];
  let isNaming = false;
  for (const [line] of text.matchAll(LINE)) {
    if (breath.isDue) await breath.take();
    const [, written = '', value = ''] = /^\s*([\w-]{1,40})\s*:([^#]*)/.exec(line.slice(0, MOST_LINE_CHARS)) ?? [];
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

/** Versions do not count. */
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

/** Each piece is looked for once, behind the one before it, so that no pattern takes longer than its length and the path's. */
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

/** The same letters in one way of writing. */
function comparable(path: string): string {
  return path
    .replace(/[^\0-\x7f]+/g, (letters) => Buffer.from(letters).toString('hex').replace(/../g, '%$&'))
    .replace(/%([\da-f]{2})/gi, (whole, hex: string) => {
      const letter = String.fromCharCode(parseInt(hex, 16));
      return UNRESERVED.test(letter) ? letter : whole.toUpperCase();
    });
}
