import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

/** Two builds that can run on the same Redis. */
export interface TwoBuilds {
  /** The entry file of each, for node. */
  present: string;
  next: string;
  remove(): void;
}

/**
 * Possible changes of the next release: every payload has version 2, the two for workers also have another shape, and
 * versions 1 and 2 are read. Each row: file of `dist-modules/`, a text that occurs once in it, its replacement.
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
    '{ conversation, version } = lock.job.data',
    '{ place, conversation = place, version } = lock.job.data',
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

/** In both builds the sweeper acts sooner, so that a test waits less for returned messages and lost wake-ups. */
const SOONER: readonly (readonly [string, string, string])[] = [
  ['bot/queue/sweeper.js', 'SWEEP_AFTER_MS = 10 * SECOND_MS', 'SWEEP_AFTER_MS = 2 * SECOND_MS'],
  ['bot/queue/sweeper.js', 'SWEEP_EVERY_MS = 5 * SECOND_MS', 'SWEEP_EVERY_MS = SECOND_MS'],
];

/** Copies `dist-modules/` twice and changes one copy. */
export function makeTwoBuilds(): TwoBuilds {
  const folder = mkdtempSync(join(tmpdir(), 'parley-builds-'));
  writeFileSync(join(folder, 'package.json'), '{ "type": "module", "version": "0.0.0" }');
  for (const name of ['node_modules', 'defaults', 'examples']) symlinkSync(resolve(name), join(folder, name));
  const [present, next] = [join(folder, 'present'), join(folder, 'next')];
  for (const build of [present, next]) {
    cpSync('dist-modules', build, { recursive: true });
    for (const [file, find, replace] of SOONER) replaceOnce(join(build, file), find, replace);
  }
  for (const [file, find, replace] of CHANGES) replaceOnce(join(next, file), find, replace);
  return {
    present: join(present, 'main.js'),
    next: join(next, 'main.js'),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

function replaceOnce(path: string, find: string, replace: string): void {
  const text = readFileSync(path, 'utf8');
  if (text.split(find).length !== 2) throw new Error(`Not exactly once in ${path}: ${find}`);
  writeFileSync(
    path,
    text.replace(find, () => replace),
  );
}
