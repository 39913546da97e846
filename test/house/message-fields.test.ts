import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { MESSAGE_FIELDS, PART_FIELDS } from '../../src/bot/domain/message-record.ts';

const FOLDERS = [
  'src/bot/queue/scripts',
  'src/bot/reply/scripts',
  'src/bot/reply/follow-ups/scripts',
  'src/bot/reply/feedback/scripts',
];

/** The names of a message record in scripts. Names of other hashes belong to the other list. */
const RECORDS =
  /^(?:keys\.(?:record|stop|records\[1\])|record|opener|(?:own|newest|shown)\.key|(?:args\.messagePrefix|recordPrefix) .*)$/;
const OTHERS =
  /^(?:keys\.(?:state|followUp|feedback|checks)|(?:chosen|gone|changes\.usage)\.key|args\.(?:preferences|followUp)Prefix .*|statePrefix .*|keys\.counts|keys\.letter|letter\.key)$/;
/** In commit.lua `key` is another hash, and in other scripts a message record. */
const OF_COMMIT = 'commit.lua';

interface Use {
  script: string;
  field: string;
}

/** Splits at commas outside of brackets. */
function argumentsOf(text: string): string[] {
  const parts = [''];
  let depth = 0;
  for (const letter of text) {
    if (letter === '(' || letter === '{') depth += 1;
    if (letter === ')' || letter === '}') depth -= 1;
    if (depth < 0) break;
    if (letter === ',' && depth === 0) parts.push('');
    else parts.push(`${parts.pop() ?? ''}${letter}`);
  }
  return parts.map((part) => part.trim());
}

function usesIn(script: string, text: string): { uses: Use[]; unknown: string[] } {
  const uses: Use[] = [];
  const unknown: string[] = [];
  const add = (names: readonly string[]) => {
    for (const name of names) {
      const field = /^'([^']*)'/.exec(name)?.[1];
      if (field !== undefined) uses.push({ script, field });
    }
  };
  for (const [, command = '', rest = ''] of text.matchAll(/redis\.p?call\('(H[A-Z]+)', (.*)/g)) {
    const [key = '', ...given] = argumentsOf(rest);
    const isRecord = RECORDS.test(key) || (key === 'key' && script !== OF_COMMIT);
    if (!isRecord && !OTHERS.test(key) && key !== 'key') unknown.push(`${script}: ${key}`);
    if (isRecord) add(command.startsWith('HSET') ? given.filter((_, at) => at % 2 === 0) : given);
  }
  for (const [, rest = ''] of text.matchAll(/\bnote\(id, (.*)/g))
    add(argumentsOf(rest).filter((_, at) => at % 2 === 0));
  for (const [, rest = ''] of text.matchAll(/^local fields = \{(.*)\}$/gm))
    if (script === 'poll.lua') add(argumentsOf(rest));
    else if (script === 'accept.lua') add(argumentsOf(rest).filter((_, at) => at % 2 === 0));
  if (script === 'accept.lua')
    for (const [, field = ''] of text.matchAll(/fields\[#fields \+ 2\] = ('\w+')/g)) add([field]);
  return { uses, unknown };
}

test('every field of a message record in a script is declared in domain/message-record.ts', () => {
  const found = FOLDERS.flatMap((folder) =>
    readdirSync(folder)
      .filter((name) => name.endsWith('.lua'))
      .map((name) => usesIn(name, readFileSync(join(folder, name), 'utf8'))),
  );
  const uses = found.flatMap((one) => one.uses);
  expect(found.flatMap(({ unknown }) => unknown)).toEqual([]);
  const isNamed = ({ field }: Use) =>
    field in MESSAGE_FIELDS || PART_FIELDS.some((part) => field.startsWith(`${part}:`));
  expect(uses.filter((use) => !isNamed(use))).toEqual([]);
  expect(uses.length).toBeGreaterThan(60);
  // The other fields are written by TypeScript only.
  const touched = new Set(uses.map(({ field }) => field));
  const byTypeScriptAlone = ['delivery', 'replaced'];
  expect(Object.keys(MESSAGE_FIELDS).filter((name) => !touched.has(name) && !byTypeScriptAlone.includes(name))).toEqual(
    [],
  );
});
