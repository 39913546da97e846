import type { KeyRing } from '../../../shared/crypto/key-ring.ts';
import { tryOpenJson } from '../../../shared/crypto/decrypt-record.ts';
import type { AccountId, ConversationId, DeliveryId } from '../../domain/ids.ts';

/** Where an image stands in its question: in what is quoted, or behind so many characters (UTF-16 units) of its text. */
export type ImagePlace = 'quote' | number;

/** One question with its answer, as a conversation keeps it. Turns are kept and dropped only whole. */
export interface HistoryTurn {
  version: 1;
  turnId: DeliveryId;
  /** The messages whose words these are, unless they are the turn's own alone: merged ones, or those of a question that was asked again. */
  messageIds?: readonly DeliveryId[];
  /** When the question came. */
  atMs: number;
  /** In a group the asker's stable tag, such as `member-3f9a`; absent in private chats. */
  speakerTag?: string;
  /** The account under which it was said; what one identity said is no other's history (SECURITY.md link-is-told). */
  accountId?: AccountId;
  /** The mark of the scene in which it was answered; absent where none held. */
  scene?: string;
  userText: string;
  /** Text that the question quoted. */
  quotedText?: string;
  /** Names of the question's images in the media store, where they are kept for a short time. */
  mediaIds?: string[];
  /** Where each of them stood; behind the text where that is not known. */
  imagePlaces?: ImagePlace[];
  /** How many images came with the question, whether they are still kept or not. */
  images: number;
  /** What was retrieved for the answer, by the numbers that stand in it. */
  sources?: readonly CitedSource[];
  /** Its files: where what they say is kept for a short time, and their names as people read them. */
  files?: { mediaId: string; name: string }[];
  /** Empty when the question got no answer; such a turn can be asked again, but enters no prompt. */
  assistantText: string;
  /** Set when the answer is only its beginning. */
  interrupted?: true;
  /** Set when a new conversation begins with this turn; earlier ones enter no prompt any more. */
  startsAnew?: true;
}

/** A document that was retrieved for an answer: what a person is told of it. */
export interface CitedSource {
  number: number;
  /** The source's name in `KNOWLEDGE_FILE`. */
  source: string;
  title: string;
  url?: string;
  date?: string;
  isCited?: true;
}

const PURPOSE = 'history';

/** Names of all that is kept of a turn's images and files. */
export function keptMediaOf({ mediaIds = [], files = [] }: HistoryTurn): string[] {
  return [...mediaIds, ...files.map(({ mediaId }) => mediaId)];
}

/** Seals a turn for its conversation's list in Redis; opened for another conversation it stays shut. */
export function sealTurn(keyRing: KeyRing, conversationId: ConversationId, turn: HistoryTurn): string {
  return keyRing.seal(PURPOSE, conversationId, JSON.stringify(turn));
}

/**
 * Opens a conversation's turns, in their order. A record that is broken, lacks its key, or is of a version that is not known, is
 * skipped: the conversation goes on without it (SECURITY.md key-rotation).
 * @param onSkipped told how many were skipped, if any
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
