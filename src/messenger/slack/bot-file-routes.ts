import Router from '@koa/router';
import { MIB_BYTES } from '../../base/clock.ts';
import { MessengerError } from '../messenger-error.ts';
import { BOT_FILE_PATHS, type BotFiles } from './bot-files.ts';

const MOST_BYTES = 20 * MIB_BYTES;

/** Where the bot brings the bytes of its files, and where people fetch them. Neither needs a token: the address is known to nobody else. */
export function botFileRoutes(files: BotFiles): Router {
  const router = new Router();
  router.post(`${BOT_FILE_PATHS.upload}/:key`, async (context) => {
    const chunks: Buffer[] = [];
    let sizeBytes = 0;
    for await (const chunk of context.req as AsyncIterable<Buffer>) {
      sizeBytes += chunk.length;
      if (sizeBytes > MOST_BYTES) throw new MessengerError('bad_request', 'The file is larger than 20 MB');
      chunks.push(chunk);
    }
    const isTaken = files.take(String(context.params['key']), Buffer.concat(chunks));
    context.status = isTaken ? 200 : 400;
    context.body = isTaken ? `OK - ${sizeBytes}` : 'no such upload';
  });
  router.get(`${BOT_FILE_PATHS.download}/:key/:name`, (context) => {
    const file = files.find(String(context.params['key']));
    if (!file) throw new MessengerError('not_found', 'No such file');
    context.attachment(file.name);
    // Whatever a model wrote is never a page here.
    context.type = 'text/plain; charset=utf-8';
    context.set('X-Content-Type-Options', 'nosniff');
    context.body = file.bytes;
  });
  return router;
}
