import type { KeyRing } from '../../../shared/crypto/key-ring.ts';
import { tryOpenJson } from '../../../shared/crypto/decrypt-record.ts';
import type { AccountId, ConversationId, DeliveryId } from '../../domain/ids.ts';

/** Position of an image in its question: in the quote, or an offset into the text (UTF-16 units). */
export type ImagePlace = 'quote' | number;

/** One question with its answer, as stored in a conversation. Turns are stored and deleted only as a whole. */
export interface HistoryTurn {
  version: 1;
  turnId: DeliveryId;
  /**
   * The messages that contain these words, if other than the turn's own message alone: merged messages, or those of a
   * repeated question.
   */
  messageIds?: readonly DeliveryId[];
  /** Time of the question. */
  atMs: number;
  /** In a group, the user's stable tag, such as `member-3f9a`; absent in private chats. */
  speakerTag?: string;
  /** The account of the question; the history of one identity is never available to another (SECURITY.md link-is-told). */
  accountId?: AccountId;
  /** Mark of the scene of the answer; absent if there was none. */
  scene?: string;
  userText: string;
  quotedText?: string;
  /** Names of the question's images in the media store, where they are stored for a short time. */
  mediaIds?: string[];
  /** Position of each image; the end of the text if unknown. */
  imagePlaces?: ImagePlace[];
  /** Number of images of the question, including expired ones. */
  images: number;
  /** Sources retrieved for the answer, numbered as in its text. */
  sources?: readonly CitedSource[];
  /** Files of the question: media ids of their contents, which are stored for a short time, and their display names. */
  files?: { mediaId: string; name: string }[];
  /** Empty if the question got no answer. Such a turn can be repeated, but is not part of any prompt. */
  assistantText: string;
  /** Set if the answer is incomplete. */
  interrupted?: true;
  /** Set if a new conversation begins with this turn; earlier turns are no longer part of any prompt. */
  startsAnew?: true;
}

/** A document retrieved for an answer, as shown to people. */
export interface CitedSource {
  number: number;
  /** Source name in `KNOWLEDGE_FILE`. */
  source: string;
  title: string;
  url?: string;
  date?: string;
  isCited?: true;
}

const PURPOSE = 'history';

/** Names of all stored images and files of a turn. */
export function storedMediaOf({ mediaIds = [], files = [] }: HistoryTurn): string[] {
  return [...mediaIds, ...files.map(({ mediaId }) => mediaId)];
}

/** Encrypts a turn for its conversation's list in Redis. It cannot be decrypted for another conversation. */
export function sealTurn(keyRing: KeyRing, conversationId: ConversationId, turn: HistoryTurn): string {
  return keyRing.seal(PURPOSE, conversationId, JSON.stringify(turn));
}

/**
 * Decrypts the turns of a conversation, in order. A record that is broken, has no available key or has an unknown version is
 * skipped, and the conversation continues without it (SECURITY.md key-rotation).
 * @param onSkipped called with the number of skipped records, if any
 */
export function openTurns(
  keyRing: KeyRing,
  conversationId: ConversationId,
  sealed: readonly string[],
  onSkipped?: (count: number) => void,
): HistoryTurn[] {
  const turns = sealed.flatMap((record) => openTurn(keyRing, conversationId, record) ?? []);
  if (turns.length < sealed.length) onSkipped?.(sealed.length - turns.length);
  return turns;
}

function openTurn(keyRing: KeyRing, conversationId: ConversationId, sealed: string): HistoryTurn | undefined {
  const readTurn = (value: unknown) => (isTurn(value) ? value : undefined);
  const opened = tryOpenJson(() => keyRing.open(PURPOSE, conversationId, sealed), readTurn);
  return opened.kind === 'opened' ? opened.value : undefined;
}

function isTurn(value: unknown): value is HistoryTurn {
  if (typeof value !== 'object' || value === null) return false;
  const turn = value as Partial<Record<keyof HistoryTurn, unknown>>;
  const hasTexts = [turn.turnId, turn.userText, turn.assistantText].every((text) => typeof text === 'string');
  const hasNumbers = [turn.atMs, turn.images].every((count) => typeof count === 'number');
  const hasSpeaker = turn.speakerTag === undefined || typeof turn.speakerTag === 'string';
  return turn.version === 1 && hasTexts && hasNumbers && hasSpeaker;
}
