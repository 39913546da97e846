import { asDeliveryId } from '../../bot/domain/ids.ts';
import { readDeadLetters, replayDeadLetter, type DeadLetter, type ReplayResult } from '../../bot/queue/dead-letters.ts';
import type { RunAdmin } from './admin-context.ts';

/** `admin dead-letters`: the questions that were given up or could not be read, newest first. */
export const listDeadLetters: RunAdmin = async ({ redis }) => {
  const letters = await readDeadLetters(redis);
  return { data: letters.map(asData), text: letters.length === 0 ? 'No dead letters\n' : letters.map(lineOf).join('') };
};

function asData({ atMs, replayedAtMs, ...rest }: DeadLetter): Record<string, unknown> {
  return {
    time: new Date(atMs).toISOString(),
    ...rest,
    replayed: replayedAtMs === undefined ? undefined : new Date(replayedAtMs).toISOString(),
  };
}

const REASONS = { crashed: 'its workers crashed', unreadable: 'it could not be decrypted' } as const;

function lineOf({ id, atMs, why, messages, replayedAtMs }: DeadLetter): string {
  const at = new Date(atMs).toISOString();
  if (replayedAtMs === undefined) return `${id}  ${at}  ${REASONS[why]}, messages: ${messages}\n`;
  return `${id}  ${at}  ${REASONS[why]}, messages: ${messages}, replayed ${new Date(replayedAtMs).toISOString()}\n`;
}

const REPLAY_TEXTS: Readonly<Record<ReplayResult, string>> = {
  replayed: 'The question was put back; it is answered within seconds',
  unknown: 'No dead letter has this id; they are kept for seven days',
  again: 'This dead letter was replayed before',
  full: 'Too many messages wait in its conversation; try again later',
  unreadable: 'It cannot be decrypted with the present keys',
};

/** `admin replay`: puts a dead letter back as a question, once. */
export const replay: RunAdmin = async ({ redis, keyRing }, { subject }) => {
  const result = await replayDeadLetter({ redis, keyRing }, asDeliveryId(subject.toLowerCase()));
  const outcome = result === 'replayed' ? 'done' : result === 'unknown' ? 'not-found' : 'refused';
  return { outcome, data: { id: subject, result }, text: `${REPLAY_TEXTS[result]}\n` };
};
