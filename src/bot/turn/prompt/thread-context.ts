import { localTime } from '../../../shared/local-time.ts';
import { stripInvisible } from '../../../shared/text/sanitize-text.ts';
import { languageOfText, type Language } from '../../../shared/text/texts.ts';
import { deliveryIdOf } from '../../domain/conversation.ts';
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

/**
 * The messages of a thread for the prompt of a question, by the names of their writers. Messages that the prompt contains as
 * turns are only mentioned; those of the question itself are omitted.
 */
export function threadEntries(
  reading: Extract<ThreadReading, { kind: 'read' }>,
  { turn, newest, replaced, question: { language } }: TurnContext,
  { earlier, timeZone }: { earlier: EarlierConversation; timeZone: string },
): ThreadEntry[] {
  const asked = new Set([
    ...turn.messages.map(({ deliveryId }) => deliveryId),
    ...(replaced ? messagesOf(replaced) : []),
  ]);
  const known = new Set(earlier.turns.flatMap(messagesOf));
  const replies = [...earlier.turns, ...(replaced ? [replaced] : [])].map(({ turnId }) => turnId);
  const postKeys = new Set(
    replies.flatMap((id) => Array.from({ length: MAX_PARTS }, (_, part) => postKeyOf(id, part))),
  );
  const named = createNamer(reading.names, language);
  const nameOf = createWriterNames(reading.names, newest.sender.userId);
  return sinceCommands(reading.entries).flatMap((one): ThreadEntry[] => {
    if (one.kind === 'gap') return [one];
    const id = deliveryIdOf({ ...newest, messageId: one.messageId });
    if (asked.has(id)) return [];
    if (known.has(id)) return [{ kind: 'known' }];
    // An answer that the conversation does not have was forgotten, was given to another account, or comes from the sources
    // of another scene (SECURITY.md scenes-narrow).
    if (one.writer.kind === 'own')
      return [postKeys.has(one.writer.postKey) ? { kind: 'known' } : { kind: 'gap', about: 1 }];
    const text = named(shownParts(one, language));
    const day = localTime(one.saidAtMs, timeZone).date;
    return [{ kind: 'message', day, writer: nameOf(one.writer), text }];
  });
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

/** Names of the writers. Unknown people are numbered, so that they can be told apart. */
function createWriterNames(
  names: ReadonlyMap<string, string | undefined>,
  askerId: string,
): (writer: Exclude<ThreadWriter, { kind: 'own' }>) => string {
  const unknown: string[] = [];
  return (writer) => {
    if (writer.kind === 'app') return `${plainName(writer.name ?? '') || 'An app'} (app)`;
    const { userId } = writer;
    let name = plainName(names.get(`@${userId}`) ?? '');
    if (name === '') {
      if (!unknown.includes(userId)) unknown.push(userId);
      name = `Person ${unknown.indexOf(userId) + 1}`;
    }
    return userId === askerId ? `${name} [asker]` : name;
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

/**
 * A message as text. Of files and images only names are shown: the contents belong to the person who sent them
 * (SECURITY.md own-files).
 */
function shownParts({ parts }: ThreadMessage, language: Language): string {
  const shown = parts.map((part) => {
    if (part.type === 'text') return part.text;
    if (part.type === 'image') return '[a picture, which is not shown here]';
    const name = part.name === undefined ? '' : ` “${displayFileName(part.name, language)}”`;
    return `[a file${name}, which is not shown here]`;
  });
  return stripInvisible(shown.join('\n')).trim();
}
