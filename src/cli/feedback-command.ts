import { once } from 'node:events';
import { DAY_MS } from '../shared/clock.ts';
import { EXIT } from '../shared/process/exit-codes.ts';
import { CSV_HEAD, csvLine } from '../bot/reply/feedback/feedback-csv.ts';
import { readFeedback } from '../bot/reply/feedback/read-feedback.ts';
import type { Config, Secrets } from '../bot/config/config.ts';
import { withStoredData } from './stored-data.ts';

interface FeedbackCommand {
  config: Config;
  secrets: Secrets;
  days?: number;
  /** One JSON object per line instead of CSV. */
  isJson?: boolean;
  output: NodeJS.WritableStream;
  /** Output for messages, because `output` is the table. */
  asides: { write(text: string): unknown };
}

/**
 * `npm run feedback`: prints the ratings as a table, one per line.
 * @returns the exit code
 */
export async function runFeedbackCommand(command: FeedbackCommand): Promise<number> {
  const { config, secrets, days, isJson = false, output, asides } = command;
  const notRunning = 'Ratings are stored in the Redis of npm start, which is not running: run npm start first';
  const sinceMs = days === undefined ? 0 : Date.now() - days * DAY_MS;
  const write = async (text: string) => {
    if (!output.write(text)) await once(output, 'drain');
  };
  return withStoredData({ config, secrets, name: 'feedback', asides, notRunning }, async (redis, keyRing) => {
    if (!isJson) await write(CSV_HEAD);
    for await (const { conversation: _place, ...kept } of readFeedback({ redis, keyRing }, sinceMs))
      await write(isJson ? `${JSON.stringify(kept)}\n` : csvLine(kept));
    return EXIT.ok;
  });
}
