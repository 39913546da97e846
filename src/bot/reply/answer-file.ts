import { setTimeout as pause } from 'node:timers/promises';
import { MINUTE_MS, monotonicMs, SECOND_MS } from '../../shared/clock.ts';
import { FENCE_VALID_MS, type FileReplies } from '../platforms/platform.ts';
import { isSuperseded } from './turn-abort.ts';
import type { PostLedger } from './post-ledger.ts';

export interface AnswerFileOptions {
  files: FileReplies;
  target: string;
  ledger: Pick<PostLedger, 'record' | 'known'>;
  /** The complete answer. */
  text: string;
  /** Shows the beginning of the answer above the file; called before the file is shown. @returns false if that failed */
  showBeginning(): Promise<boolean>;
  /** The file replaces messages that the platform refused. The ledger records it under a separate part number. */
  isLastResort?: true;
  signal: AbortSignal;
}

/**
 * Outcome. `messages`: the answer must be delivered as messages; the decision is final. `fenced`: another worker has the
 * turn. `over`: nothing more may be shown.
 */
export type AnswerFileResult = 'stands' | 'messages' | 'fenced' | 'over';

export const ANSWER_FILE_NAME = 'answer.md';
/** Maximum messages of an answer; a longer one is sent as a file where the platform takes files. */
export const MAX_MESSAGES = 3;

/** Ledger part number of the file; higher than that of any message of an answer. */
const FILE_PART = 10_000;
const LAST_RESORT_PART = 10_001;
const AS_MESSAGES = 'messages';
/**
 * Maximum upload attempts. After them, or after `SHOWN_WITHIN_MS` of attempts to show the file, the answer is sent as
 * messages.
 */
const MAX_UPLOAD_TRIES = 3;
const SHOWN_WITHIN_MS = 2 * MINUTE_MS;
const MAX_PAUSE_MS = 10 * SECOND_MS;

/**
 * Shows an answer that is too long for a chat as a file, exactly once despite crashes (SECURITY.md one-file). The upload
 * comes first and is invisible. The ledger records the file's id before the file is shown, so that a worker that takes over
 * shows the same file. A fallback to messages is also recorded before the first message is posted.
 */
export async function showAsFile(options: AnswerFileOptions): Promise<AnswerFileResult> {
  const { ledger, signal, isLastResort } = options;
  const known = await ledger.known(partOf(options));
  if (known === AS_MESSAGES) return 'messages';
  const noted = /^(file|shown)\/(.+)$/.exec(known ?? '');
  const [, state, notedId] = noted ?? [];
  if (state === 'shown') return 'stands';
  // An earlier version may have started to post the answer as messages.
  const hasBegun = notedId === undefined && isLastResort === undefined && (await ledger.known(1)) !== undefined;
  const fileId = notedId ?? (hasBegun ? undefined : await bring(options));
  if (isSuperseded(signal)) return 'over';
  const isStanding = fileId !== undefined && (await options.showBeginning());
  if (!isStanding) return isSuperseded(signal) ? 'over' : decideForMessages(options);
  return show(options, fileId, notedId !== undefined);
}

async function bring({ files, text, signal }: AnswerFileOptions): Promise<string | undefined> {
  for (let tries = 1; ; tries += 1) {
    const brought = await files.upload({ name: ANSWER_FILE_NAME, text });
    if (brought.result === 'sent') return brought.fileId;
    const isHopeless = brought.result === 'refused' || brought.result === 'unauthorised';
    if (isHopeless || tries >= MAX_UPLOAD_TRIES || isSuperseded(signal)) return undefined;
    await pause(SECOND_MS, undefined, { signal }).catch(() => undefined);
  }
}

async function show(options: AnswerFileOptions, fileId: string, wasNoted: boolean): Promise<AnswerFileResult> {
  const { files, target, signal } = options;
  const untilMs = monotonicMs() + SHOWN_WITHIN_MS;
  let mayBeShown = wasNoted;
  for (let attempt = 0; ; attempt += 1) {
    if (!(await note(options, `file/${fileId}`))) return 'fenced';
    const result = await files.show(target, fileId, { name: ANSWER_FILE_NAME, mayBeShown });
    if (result === 'sent') return (await note(options, `shown/${fileId}`)) ? 'stands' : 'fenced';
    if (result === 'uncertain') mayBeShown = true;
    const pauseMs = Math.min(MAX_PAUSE_MS, 500 * 2 ** Math.min(attempt, 10));
    const isHopeless = result === 'refused' || (result === 'unauthorised' && !mayBeShown);
    if (isHopeless || monotonicMs() + pauseMs >= untilMs) return decideForMessages(options);
    await pause(pauseMs, undefined, { signal }).catch(() => undefined);
    if (isSuperseded(signal)) return 'over';
  }
}

async function decideForMessages(options: AnswerFileOptions): Promise<AnswerFileResult> {
  return (await note(options, AS_MESSAGES)) ? 'messages' : 'fenced';
}

function partOf({ isLastResort }: Pick<AnswerFileOptions, 'isLastResort'>): number {
  return isLastResort ? LAST_RESORT_PART : FILE_PART;
}

/**
 * Records a state and checks the fence; the caller acts while that check is fresh.
 * @returns false if a newer epoch has taken over
 */
async function note(options: AnswerFileOptions, what: string): Promise<boolean> {
  for (;;) {
    const askedMs = monotonicMs();
    if (!(await options.ledger.record(partOf(options), what))) return false;
    if (monotonicMs() - askedMs < FENCE_VALID_MS) return true;
  }
}
