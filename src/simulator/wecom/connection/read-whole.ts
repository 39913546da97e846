import { botFileLine } from '../../http/bot-file.ts';
import { readLaterAnswer } from '../response-urls.ts';
import type { WholeMessage } from '../shown-answers.ts';
import type { Uploads } from './uploads.ts';

type ReadWhole = (WholeMessage & { isText: boolean }) | { refused: string };

/** Whether a frame's body is a snapshot of a growing answer. */
export function isStream(body: unknown): boolean {
  const msgtype = msgtypeOf(body);
  return msgtype === 'stream' || msgtype === 'stream_with_template_card';
}

/** Validates a complete message: markdown, a card, or a file that was uploaded before. @param url of the messenger */
export function readWhole(body: unknown, uploads: Uploads, url: string): ReadWhole {
  const msgtype = msgtypeOf(body);
  if (msgtype === 'markdown' || msgtype === 'template_card') {
    const read = readLaterAnswer(body);
    return read.kind === 'refused' ? { refused: read.reason } : { ...read, isText: msgtype === 'markdown' };
  }
  const file = uploads.find(((body ?? {}) as Record<string, { media_id?: unknown } | undefined>)[msgtype]?.media_id);
  if (file?.type !== msgtype) return { refused: 'the message has an unknown type' };
  return file.type === 'image'
    ? { text: '', images: [file.bytes], isText: false }
    : { text: botFileLine(url, file), isText: false };
}

function msgtypeOf(body: unknown): string {
  const msgtype = (body as { msgtype?: unknown } | null | undefined)?.msgtype;
  return typeof msgtype === 'string' ? msgtype : '';
}
