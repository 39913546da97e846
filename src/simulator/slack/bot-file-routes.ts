import Router from '@koa/router';
import { MIB_BYTES } from '../../shared/clock.ts';
import { MessengerError } from '../messenger-error.ts';
import { BOT_FILE_ROUTE, serveBotFile } from '../http/bot-file.ts';
import { readBody } from '../http/read-body.ts';
import { UPLOAD_PATH, type BotFiles } from './bot-files.ts';

const MAX_BYTES = 20 * MIB_BYTES;

/**
 * Endpoints for uploading the bot's files and for people's downloads. The upload needs no token either, because its address
 * is known only to the bot.
 */
export function botFileRoutes(files: BotFiles): Router {
  const router = new Router();
  router.post(`${UPLOAD_PATH}/:key`, async (context) => {
    const tooLarge = () => new MessengerError('bad_request', 'The file is larger than 20 MB');
    const bytes = await readBody(context.req, MAX_BYTES, tooLarge);
    const isTaken = files.take(String(context.params['key']), bytes);
    context.status = isTaken ? 200 : 400;
    context.body = isTaken ? `OK - ${bytes.length}` : 'no such upload';
  });
  router.get(BOT_FILE_ROUTE, (context) => serveBotFile(context, files.find(String(context.params['key']))));
  return router;
}
