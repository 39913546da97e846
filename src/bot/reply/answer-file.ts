import { setTimeout as pause } from 'node:timers/promises';
import { MINUTE_MS, monotonicMs, SECOND_MS } from '../../shared/clock.ts';
import { FENCE_HOLDS_MS, type FileReplies } from '../platforms/platform.ts';
import { isOver } from './turn-abort.ts';
import type { PostLedger } from './post-ledger.ts';

export interface AnswerFileOptions {
  files: FileReplies;
  target: string;
  ledger: Pick<PostLedger, 'record' | 'known'>;
  /** The whole answer. */
  text: string;
  /** Runs before the file is shown: the answer's beginning is to stand above it. @returns false where that cannot be */
  showBeginning(): Promise<boolean>;
  /** The file takes the place of messages that the platform refused, and is noted apart from one that was meant to be a file. */
  isLastResort?: true;
  signal: AbortSignal;
}

/** What became of it. `messages`: the answer goes as messages, for good. `fenced`: another worker has the turn. `over`: nothing more may be shown. */
export type AnswerFileResult = 'stands' | 'messages' | 'fenced' | 'over';

export const ANSWER_FILE_NAME = 'answer.md';
/** An answer of more messages is a file, where the platform takes one. */
export const MOST_MESSAGES = 3;

/** A place in the ledger of its own, which no message of an answer comes to. */
const FILE_PART = 10_000;
const LAST_RESORT_PART = 10_001;
const AS_MESSAGES = 'messages';
/** So often the bytes are brought, and so long it is tried to show them: after that, messages. */
const MOST_BRINGS = 3;
const SHOWN_WITHIN_MS = 2 * MINUTE_MS;
const LONGEST_PAUSE_MS = 10 * SECOND_MS;

/**
 * Shows an answer that is too long for a chat as a file, once, whatever dies (SECURITY.md one-file). The bytes are brought first, which nobody sees; the
 * ledger has the file's id before it is shown, so that whoever takes over shows the same file; and it has the decision for messages
 * before the first of them leaves.
 */
export async function showAsFile(options: AnswerFileOptions): Promise<AnswerFileResult> {
  const { ledger, signal, isLastResort } = options;
  const known = await ledger.known(partOf(options));
  if (known === AS_MESSAGES) return 'messages';
  const noted = /^(file|shown)\/(.+)$/.exec(known ?? '');
  const [, state, notedId] = noted ?? [];
  if (state === 'shown') return 'stands';
  // An earlier version has begun to say it in messages.
  const hasBegun = notedId === undefined && isLastResort === undefined && (await ledger.known(1)) !== undefined;
  const fileId = notedId ?? (hasBegun ? undefined : await bring(options));
  if (isOver(signal)) return 'over';
  const isStanding = fileId !== undefined && (await options.showBeginning());
  if (!isStanding) return isOver(signal) ? 'over' : decideForMessages(options);
  return show(options, fileId, notedId !== undefined);
}

async function bring({ files, text, signal }: AnswerFileOptions): Promise<string | undefined> {
  for (let tries = 1; ; tries += 1) {
    const brought = await files.bring({ name: ANSWER_FILE_NAME, text });
    if (brought.result === 'sent') return brought.fileId;
    const isHopeless = brought.result === 'refused' || brought.result === 'unauthorised';
    if (isHopeless || tries >= MOST_BRINGS || isOver(signal)) return undefined;
    await pause(SECOND_MS, undefined, { signal }).catch(() => undefined);
  }
}

async function show(options: AnswerFileOptions, fileId: string, wasNoted: boolean): Promise<AnswerFileResult> {
  const { files, target, signal } = options;
  const untilMs = monotonicMs() + SHOWN_WITHIN_MS;
  let mayStand = wasNoted;
  for (let attempt = 0; ; attempt += 1) {
    if (!(await note(options, `file/${fileId}`))) return 'fenced';
    const result = await files.show(target, fileId, { name: ANSWER_FILE_NAME, mayStand });
    if (result === 'sent') return (await note(options, `shown/${fileId}`)) ? 'stands' : 'fenced';
    if (result === 'uncertain') mayStand = true;
    const pauseMs = Math.min(LONGEST_PAUSE_MS, 500 * 2 ** Math.min(attempt, 10));
    const isHopeless = result === 'refused' || (result === 'unauthorised' && !mayStand);
    if (isHopeless || monotonicMs() + pauseMs >= untilMs) return decideForMessages(options);
    await pause(pauseMs, undefined, { signal }).catch(() => undefined);
    if (isOver(signal)) return 'over';
  }
}

async function decideForMessages(options: AnswerFileOptions): Promise<AnswerFileResult> {
  return (await note(options, AS_MESSAGES)) ? 'messages' : 'fenced';
}

function partOf({ isLastResort }: Pick<AnswerFileOptions, 'isLastResort'>): number {
  return isLastResort ? LAST_RESORT_PART : FILE_PART;
}

/** Asks the fence too: what follows leaves while its answer is fresh. @returns false when a newer epoch has taken over */
async function note(options: AnswerFileOptions, what: string): Promise<boolean> {
  for (;;) {
    const askedMs = monotonicMs();
    if (!(await options.ledger.record(partOf(options), what))) return false;
    if (monotonicMs() - askedMs < FENCE_HOLDS_MS) return true;
  }
}
