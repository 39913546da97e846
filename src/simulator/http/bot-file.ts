import type { Context } from 'koa';
import { MessengerError } from '../messenger-error.ts';

/** Where people fetch the bot's files from. */
const BOT_FILE_PATH = '/bot-files';

/** The route of `botFileAddress`. */
export const BOT_FILE_ROUTE = `${BOT_FILE_PATH}/:key/:name`;

/** The line that shows a file in a chat. @param key nobody knows it but whoever sees the message */
export function botFileLine(url: string, { key, name, title = name }: { key: string; name: string; title?: string }) {
  return `📎 [${title.replace(/[[\]\\]/g, '')}](${url}${BOT_FILE_PATH}/${key}/${encodeURIComponent(name)})`;
}

/** Gives a file's bytes to people; needs no token, since the address is known to nobody else. @throws MessengerError `not_found` */
export function serveBotFile(context: Context, file: { name: string; bytes: Buffer } | undefined): void {
  if (!file) throw new MessengerError('not_found', 'No such file');
  context.attachment(file.name);
  // Whatever a model wrote is never a page here.
  context.type = 'text/plain; charset=utf-8';
  context.set('X-Content-Type-Options', 'nosniff');
  context.body = file.bytes;
}
