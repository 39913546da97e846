import type { Context } from 'koa';
import { MessengerError } from '../messenger-error.ts';

/** Address from which people fetch the bot's files. */
const BOT_FILE_PATH = '/bot-files';

/** The route of `botFileAddress`. */
export const BOT_FILE_ROUTE = `${BOT_FILE_PATH}/:key/:name`;

/** Markdown line for a file in a chat. @param key known only to those who see the message */
export function botFileLine(url: string, { key, name, title = name }: { key: string; name: string; title?: string }) {
  return `📎 [${title.replace(/[[\]\\]/g, '')}](${url}${BOT_FILE_PATH}/${key}/${encodeURIComponent(name)})`;
}

/**
 * Serves a file's bytes to people. Needs no token, because only those who see the message know the address. @throws
 * MessengerError `not_found`
 */
export function serveBotFile(context: Context, file: { name: string; bytes: Buffer } | undefined): void {
  if (!file) throw new MessengerError('not_found', 'No such file');
  context.attachment(file.name);
  // Model output must never be rendered as a page here.
  context.type = 'text/plain; charset=utf-8';
  context.set('X-Content-Type-Options', 'nosniff');
  context.body = file.bytes;
}
