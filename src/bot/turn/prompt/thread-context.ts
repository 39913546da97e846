import { createHash } from 'node:crypto';
import { localTime } from '../../../shared/local-time.ts';
import { stripInvisible } from '../../../shared/text/sanitize-text.ts';
import { languageOfText, type Language } from '../../../shared/text/texts.ts';
import { deliveryIdOf } from '../../domain/conversation.ts';
import type { DeliveryId } from '../../domain/ids.ts';
import type { MessagePart } from '../../domain/message.ts';
import { readSlashCommand, type SlashCommandName } from '../../domain/slash-words.ts';
import type { ThreadGap, ThreadMessage, ThreadReading, ThreadWriter } from '../../platforms/platform.ts';
import { postKeyOf } from '../../reply/post-ledger.ts';
import type { ThreadEntry } from '../conversation/fit-thread.ts';
import { messagesOf } from '../conversation/turns-of-message.ts';
import { displayFileName } from '../files/file-words.ts';
import type { TurnContext } from '../turn-context.ts';
import type { EarlierConversation } from './earlier-conversation.ts';
import { createNamer } from './name-references.ts';

/** Posts of one answer that are recognised. */
const MAX_PARTS = 10;

/** Whether a question was asked in a thread of a group that can be read. In private chats every message is a question. */
export function isInThread({ newest: { chat, replyTarget }, platform }: TurnContext): boolean {
  const isThread = chat.kind === 'group' && chat.threadId !== undefined;
  return isThread && replyTarget !== undefined && platform.readThread !== undefined;
}

/**
 * Reads the thread of a question for its prompt. The messages are never stored (SECURITY.md thread-is-context).
 * @returns undefined outside threads. Never rejects
 */
export async function readThreadOf(context: TurnContext): Promise<ThreadReading | undefined> {
  const { newest, platform } = context;
  return isInThread(context) ? platform.readThread?.(newest.replyTarget ?? '') : undefined;
}

/** Language of the newest message of a thread; undefined if there is none. */
export function languageOfThread(reading: ThreadReading | undefined): Language | undefined {
  if (reading?.kind !== 'read') return undefined;
  const texts = reading.entries.map((one) =>
    one.kind === 'message' && one.writer.kind !== 'own' ? textOf(one.parts) : '',
  );
  const newest = texts.findLast((text) => text !== '');
  return newest === undefined ? undefined : languageOfText(newest);
}

/** A message of a thread as a question may use it. */
export interface SeenMessage {
  kind: 'message';
  id: DeliveryId;
  message: ThreadMessage;
  writer: ShownWriter;
  /** `known`: the prompt contains the message as a turn. */
  state: 'new' | 'known';
}

/** Writer of a message. */
interface ShownWriter {
  /** As in the prompt: unknown people are numbered, so that they can be told apart. */
  name: string;
  isAsker: boolean;
  /** Undefined for a person whose name the platform did not return. */
  knownName: string | undefined;
}

/** A message that is left out is a gap; our own answers in the conversation are `known`. */
export type SeenEntry = SeenMessage | ThreadGap | { kind: 'known' };

/**
 * The part of a thread that a question may use, by the names of the writers. The messages of the question itself are omitted.
 */
export function seeThread(
  reading: Extract<ThreadReading, { kind: 'read' }>,
  { turn, newest, replaced }: TurnContext,
  earlier: EarlierConversation,
): SeenEntry[] {
  const asked = new Set([
    ...turn.messages.map(({ deliveryId }) => deliveryId),
    ...(replaced ? messagesOf(replaced) : []),
  ]);
  const known = new Set(earlier.turns.flatMap(messagesOf));
  const replies = [...earlier.turns, ...(replaced ? [replaced] : [])].map(({ turnId }) => turnId);
  const postKeys = new Set(
    replies.flatMap((id) => Array.from({ length: MAX_PARTS }, (_, part) => postKeyOf(id, part))),
  );
  const writerOf = createWriters(reading.names, newest.sender.userId);
  return sinceCommands(reading.entries).flatMap((message): SeenEntry[] => {
    if (message.kind === 'gap') return [message];
    const { writer } = message;
    const id = deliveryIdOf({ ...newest, messageId: message.messageId });
    if (asked.has(id)) return [];
    // An answer that the conversation does not have was forgotten, was given to another account, or comes from the sources
    // of another scene (SECURITY.md scenes-narrow).
    if (writer.kind === 'own')
      return [known.has(id) || postKeys.has(writer.postKey) ? { kind: 'known' } : { kind: 'gap', about: 1 }];
    return [{ kind: 'message', id, message, writer: writerOf(writer), state: known.has(id) ? 'known' : 'new' }];
  });
}

/**
 * Leaves out the messages with a listed word (SECURITY.md moderation): they must not reach a model, but what one person
 * wrote must not refuse the questions of all others in the thread.
 */
export async function leaveOutListed(
  seen: readonly SeenEntry[],
  hasWord: (text: string) => Promise<boolean>,
): Promise<SeenEntry[]> {
  const kept: SeenEntry[] = [];
  for (const one of seen)
    if (one.kind !== 'message' || one.state === 'known' || !(await hasWord(wordsOf(one.message)))) kept.push(one);
  return kept;
}

/** Name in the store of a file that a thread shows. Edits change the order of files, but not their references. */
export function sharedMediaId(id: DeliveryId, { mediaRef }: { mediaRef: string }): string {
  return `${id}:${createHash('sha256').update(mediaRef).digest('hex').slice(0, 16)}`;
}

/**
 * The messages of a thread for the prompt of a question. Messages that the prompt contains as turns are only mentioned.
 * @param shown names of the files that the prompt contains, as in `sharedMediaId`
 */
export function threadEntries(
  seen: readonly SeenEntry[],
  { names, shown, timeZone, language }: ThreadWords,
): ThreadEntry[] {
  const named = createNamer(names, language);
  return seen.map((one): ThreadEntry => {
    if (one.kind !== 'message') return one;
    if (one.state === 'known') return { kind: 'known' };
    const { message, writer } = one;
    const isShown = (part: { mediaRef: string }) => shown.has(sharedMediaId(one.id, part));
    return {
      kind: 'message',
      day: localTime(message.saidAtMs, timeZone).date,
      writer: writer.isAsker ? `${writer.name} [asker]` : writer.name,
      text: named(shownParts(message, isShown, language)),
    };
  });
}

interface ThreadWords {
  names: ReadonlyMap<string, string | undefined>;
  shown: ReadonlySet<string>;
  timeZone: string;
  language: Language;
}

/**
 * The part of a thread that commands in it leave: everything after the last /new, without what people wrote before their own
 * /forget.
 */
function sinceCommands(entries: readonly (ThreadMessage | ThreadGap)[]): (ThreadMessage | ThreadGap)[] {
  const words = entries.map(commandOf);
  const begin = words.lastIndexOf('new') + 1;
  const forgotten = new Map<string, number>();
  for (const [index, one] of entries.entries())
    if (words[index] === 'forget' && one.kind === 'message' && one.writer.kind === 'person')
      forgotten.set(one.writer.userId, index);
  return entries.slice(begin).map((one, index) => {
    const isForgotten =
      one.kind === 'message' &&
      one.writer.kind === 'person' &&
      begin + index <= (forgotten.get(one.writer.userId) ?? Number.NEGATIVE_INFINITY);
    return isForgotten ? { kind: 'gap', about: 1 } : one;
  });
}

/** The command of a message such as “@Parley /new”. */
function commandOf(one: ThreadMessage | ThreadGap): SlashCommandName | undefined {
  if (one.kind !== 'message' || one.writer.kind !== 'person') return undefined;
  return readSlashCommand(textOf(one.parts).replace(/^\s*@\S+\s*/, ''), { models: [] })?.word;
}

function createWriters(
  names: ReadonlyMap<string, string | undefined>,
  askerId: string,
): (writer: Exclude<ThreadWriter, { kind: 'own' }>) => ShownWriter {
  const unknown: string[] = [];
  return (writer) => {
    if (writer.kind === 'app') {
      const name = `${plainName(writer.name ?? '') || 'An app'} (app)`;
      return { name, isAsker: false, knownName: name };
    }
    const { userId } = writer;
    const isAsker = userId === askerId;
    const knownName = plainName(names.get(`@${userId}`) ?? '');
    if (knownName !== '') return { name: knownName, isAsker, knownName };
    if (!unknown.includes(userId)) unknown.push(userId);
    return { name: `Person ${unknown.indexOf(userId) + 1}`, isAsker, knownName: undefined };
  };
}

/** A name on one line, without the signs that structure a thread. */
function plainName(name: string): string {
  return stripInvisible(name)
    .replace(/[[\]<>":\s]+/g, ' ')
    .trim()
    .slice(0, 80);
}

function textOf(parts: readonly MessagePart[]): string {
  return parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
}

/** All that a message brings into a prompt, except the content of its files. */
function wordsOf({ parts }: ThreadMessage): string {
  return parts.map((part) => (part.type === 'text' ? part.text : (part.name ?? ''))).join('\n');
}

/** A message as text. Files and images are named; the prompt contains those that are shown (`thread-files.ts`). */
function shownParts(
  { parts }: ThreadMessage,
  isShown: (part: { mediaRef: string }) => boolean,
  language: Language,
): string {
  const shown = parts.map((part) => {
    if (part.type === 'text') return part.text;
    const name = part.name === undefined ? '' : ` “${displayFileName(part.name, language)}”`;
    const where = part.type !== 'unsupported' && isShown(part) ? 'shown above' : 'which is not shown here';
    return `[a ${part.type === 'image' ? 'picture' : 'file'}${name}, ${where}]`;
  });
  return stripInvisible(shown.join('\n')).trim();
}
