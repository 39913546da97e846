import { MIB_BYTES } from '../../shared/clock.ts';
import { randomToken } from '../../shared/crypto/ids.ts';
import { demandText, tsOf, type CallArguments } from './call-arguments.ts';
import type { Conversation } from '../directory.ts';
import { botFileLine } from '../http/bot-file.ts';
import type { MessengerContext } from '../protocol.ts';
import { SlackFault } from './slack-fault.ts';
import { newBotMessage } from './threads.ts';
import { channelIdOf, TEAM_ID, type TsClock } from './workspace.ts';

/** Upload address for a file's bytes. */
export const UPLOAD_PATH = '/files-pri/upload';

const MAX_FILE_BYTES = 20 * MIB_BYTES;
/** Maximum files kept in memory; the newest are kept. */
const MAX_FILES = 200;

/** A file of the bot: announced, then uploaded, then shown. */
interface BotFile {
  id: string;
  name: string;
  lengthBytes: number;
  bytes?: Buffer;
  uploadKey: string;
  downloadKey: string;
  /** Where it is shown, and in which message. */
  shown?: { channel: string; ts: string };
}

export interface BotFilesParts {
  clock: TsClock;
  /** @throws SlackFault `channel_not_found` */
  channel(args: CallArguments, name: string): Conversation;
}

/**
 * Files that the bot uploads (PLATFORM_FACTS.md slack-files): a file is invisible until it is complete, and is shown once.
 */
export class BotFiles {
  readonly #side: MessengerContext;
  readonly #parts: BotFilesParts;
  readonly #files = new Map<string, BotFile>();

  constructor(side: MessengerContext, parts: BotFilesParts) {
    this.#side = side;
    this.#parts = parts;
  }

  /** files.getUploadURLExternal. @throws SlackFault `invalid_arguments` */
  begin(args: CallArguments): object {
    const name = demandText(args, 'filename');
    const lengthBytes = Number(demandText(args, 'length'));
    if (!Number.isInteger(lengthBytes) || lengthBytes < 1 || lengthBytes > MAX_FILE_BYTES)
      throw new SlackFault('invalid_arguments');
    const id = `F${randomToken(9)
      .replace(/[^A-Za-z0-9]/g, '0')
      .toUpperCase()}`;
    const file = { id, name, lengthBytes, uploadKey: randomToken(16), downloadKey: randomToken(16) };
    this.#files.set(id, file);
    for (const oldest of [...this.#files.keys()].slice(0, -MAX_FILES)) this.#files.delete(oldest);
    return { file_id: id, upload_url: `${this.#side.url()}${UPLOAD_PATH}/${file.uploadKey}` };
  }

  /** @returns whether there is an upload with exactly this length */
  take(uploadKey: string, bytes: Buffer): boolean {
    const file = [...this.#files.values()].find((one) => one.uploadKey === uploadKey);
    if (file?.lengthBytes !== bytes.length) return false;
    file.bytes = bytes;
    return true;
  }

  /** files.completeUploadExternal; a repetition changes nothing. @throws SlackFault `file_not_found` and those of a post */
  async complete(args: CallArguments): Promise<object> {
    const [named, ...others] = Array.isArray(args['files'])
      ? (args['files'] as { id?: unknown; title?: unknown }[])
      : [];
    const file = this.#files.get(String(named?.id));
    if (others.length > 0 || file?.bytes === undefined) throw new SlackFault('file_not_found');
    if (!file.shown) await this.#show(file, args, typeof named?.title === 'string' ? named.title : file.name);
    return { files: [{ id: file.id, title: file.name }] };
  }

  /** files.info. @throws SlackFault `file_not_found` */
  info(args: CallArguments): object {
    const file = this.#files.get(demandText(args, 'file'));
    if (!file) throw new SlackFault('file_not_found');
    const { id, name, lengthBytes: size, shown } = file;
    const places = shown && { [shown.channel]: [{ ts: shown.ts }] };
    return { file: { id, name, title: name, size, shares: { private: places } } };
  }

  /** The bytes, for people: the address is known only to those who see the message. */
  find(downloadKey: string): { name: string; bytes: Buffer } | undefined {
    const file = [...this.#files.values()].find((one) => one.downloadKey === downloadKey);
    return file?.bytes && file.shown ? { name: file.name, bytes: file.bytes } : undefined;
  }

  async #show(file: BotFile, args: CallArguments, title: string): Promise<void> {
    const { chatLog, url } = this.#side;
    const conversation = this.#parts.channel(args, 'channel_id');
    const place = { conversation, threadTs: tsOf(args, 'thread_ts') };
    const fresh = await newBotMessage(this.#side, this.#parts.clock, place);
    // Two concurrent calls create one file.
    if (file.shown) return;
    file.shown = { channel: channelIdOf(conversation), ts: fresh.slack.ts };
    await chatLog.write({
      ...fresh,
      text: botFileLine(url(), { key: file.downloadKey, name: file.name, title }),
      slack: { ...fresh.slack, fileIds: [`${TEAM_ID}-${file.id}`] },
    });
  }
}
