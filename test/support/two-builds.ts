import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

/** Two builds that can run over the same Redis. */
export interface TwoBuilds {
  /** The entry of each, for node. */
  present: string;
  next: string;
  remove(): void;
}

/**
 * What the next release might change: every payload has version 2, the two that a worker is handed have another shape as
 * well, and versions 1 and 2 are read. File of `dist/`, text that stands in it once, text in its place.
 */
const CHANGES: readonly (readonly [string, string, string])[] = [
  ['bot/queue/wake-queue.js', 'WAKE_VERSION = 1', 'WAKE_VERSION = 2'],
  [
    'bot/queue/wake-queue.js',
    '{ version: WAKE_VERSION, conversation }',
    '{ version: WAKE_VERSION, place: conversation }',
  ],
  [
    'bot/queue/turn-worker.js',
    '{ conversation, version } = job.data',
    '{ place, conversation = place, version } = job.data',
  ],
  ['bot/queue/turn-worker.js', 'version !== WAKE_VERSION', 'version > WAKE_VERSION'],
  ['bot/queue/inbox-entry.js', 'KNOWN_VERSION = 1', 'KNOWN_VERSION = 2'],
  [
    'bot/queue/inbox-entry.js',
    'JSON.stringify(message)',
    'JSON.stringify({ ...message, parts: undefined, said: message.parts })',
  ],
  [
    'bot/queue/inbox-entry.js',
    'if (message.version !== KNOWN_VERSION) {',
    'message.parts ??= message.said;\n    if (message.version > KNOWN_VERSION) {',
  ],
  ['bot/queue/inbox-entry.js', 'message.sender, message.parts]', 'message.sender, message.parts ?? message.said]'],
  ['bot/platforms/wecom/read-delivery.js', 'version: 1,', 'version: 2,'],
  ['bot/platforms/slack/place.js', '{ version: 1,', '{ version: 2,'],
  ['bot/turn/stored-answer.js', 'version: 1,', 'version: 2,'],
  ['bot/turn/stored-answer.js', 'version === 1', 'version <= 2'],
  ['bot/turn/stored-answer.js', 'version > 1', 'version > 2'],
  ['bot/turn/prompt/turn-history.js', 'version: 1,', 'version: 2,'],
  ['bot/turn/conversation/history.js', 'turn.version === 1', 'turn.version <= 2'],
];

/** In both: what was given back, or lost its wake, is woken by a sweep, for which a test need not wait so long. */
const SOONER: readonly (readonly [string, string, string])[] = [
  ['bot/queue/sweeper.js', 'SWEEP_AFTER_MS = 10 * SECOND_MS', 'SWEEP_AFTER_MS = 2 * SECOND_MS'],
  ['bot/queue/sweeper.js', 'SWEEP_EVERY_MS = 5 * SECOND_MS', 'SWEEP_EVERY_MS = SECOND_MS'],
];

/** Copies `dist/` twice and changes one copy. In a run of `npm run mutants` the other has the mutant. */
export function makeTwoBuilds(): TwoBuilds {
  const folder = mkdtempSync(join(tmpdir(), 'parley-builds-'));
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  symlinkSync(resolve('node_modules'), join(folder, 'node_modules'));
  const [present, next] = [join(folder, 'present'), join(folder, 'next')];
  for (const build of [present, next]) {
    cpSync('dist', build, { recursive: true });
    for (const [file, find, replace] of SOONER) replaceOnce(join(build, file), find, replace);
  }
  mutate(present);
  for (const [file, find, replace] of CHANGES) replaceOnce(join(next, file), find, replace);
  return {
    present: join(present, 'main.js'),
    next: join(next, 'main.js'),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** A mutant for this must be of words that the compiler leaves as they are. */
function mutate(build: string): void {
  if (process.env['MUTANT'] === undefined) return;
  const { file, find, replace } = JSON.parse(process.env['MUTANT']) as Record<'file' | 'find' | 'replace', string>;
  if (!file.startsWith('src/')) return;
  replaceOnce(join(build, file.slice('src/'.length).replace(/\.ts$/, '.js')), find, replace);
}

function replaceOnce(path: string, find: string, replace: string): void {
  const text = readFileSync(path, 'utf8');
  if (text.split(find).length !== 2) throw new Error(`Not exactly once in ${path}: ${find}`);
  writeFileSync(
    path,
    text.replace(find, () => replace),
  );
}
