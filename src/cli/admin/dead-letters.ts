import { readDeadLetters, type DeadLetter } from '../../bot/queue/dead-letters.ts';
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
  const replayed = replayedAtMs === undefined ? '' : `, replayed ${new Date(replayedAtMs).toISOString()}`;
  return `${id}  ${new Date(atMs).toISOString()}  ${REASONS[why]}, messages: ${messages}${replayed}\n`;
}
