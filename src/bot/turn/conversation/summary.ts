import type { KeyRing } from '../../../shared/crypto/key-ring.ts';
import { tryOpenJson } from '../../../shared/crypto/decrypt-record.ts';
import type { AccountId, ConversationId } from '../../domain/ids.ts';

/** What a machine wrote down of a conversation's older turns, which no prompt holds any more. */
export interface ConversationSummary {
  version: 1;
  text: string;
  chatKind: 'private' | 'group';
  /** The account under which all of it was said; absent where the conversation has many, or sign-in is off. */
  accountId?: AccountId;
  /** When the newest turn that it covers was asked; all earlier ones of the same scope are covered too. */
  coveredToMs: number;
}

const PURPOSE = 'summary';

/** Seals a summary for its conversation; opened for another conversation it stays shut. */
export function sealSummary(keyRing: KeyRing, conversationId: ConversationId, summary: ConversationSummary): string {
  return keyRing.seal(PURPOSE, conversationId, JSON.stringify(summary));
}

/**
 * Opens a conversation's summary. Whatever is none (nothing kept, the mark of a cleared one, a broken one, a lacking key, a version that is
 * not known) is undefined: the conversation goes on without it (SECURITY.md key-rotation).
 */
export function openSummary(
  keyRing: KeyRing,
  conversationId: ConversationId,
  kept: string,
): ConversationSummary | undefined {
  const readSummary = (value: unknown) => (isSummary(value) ? value : undefined);
  const opened = tryOpenJson(() => keyRing.open(PURPOSE, conversationId, kept), readSummary);
  return opened.kind === 'opened' ? opened.value : undefined;
}

/** Whose words a reader of a summary may see. */
export interface SummedScope {
  chatKind: ConversationSummary['chatKind'];
  /** Absent where the conversation has many accounts, or none. */
  accountId?: AccountId;
  /** What was said before belongs to another conversation; milliseconds, `-Infinity` where nothing does. */
  beganAtMs: number;
}

/** Opens a conversation's summary for a scope; one of another scope is undefined, as what is none (SECURITY.md link-is-told). */
export function openSummaryOf(
  keyRing: KeyRing,
  conversationId: ConversationId,
  kept: string,
  { chatKind, accountId, beganAtMs }: SummedScope,
): ConversationSummary | undefined {
  const summary = openSummary(keyRing, conversationId, kept);
  if (summary?.chatKind !== chatKind || summary.accountId !== accountId) return undefined;
  return summary.coveredToMs < beganAtMs ? undefined : summary;
}

function isSummary(value: unknown): value is ConversationSummary {
  if (typeof value !== 'object' || value === null) return false;
  const { version, text, chatKind, accountId, coveredToMs } = value as Partial<
    Record<keyof ConversationSummary, unknown>
  >;
  const hasKind = chatKind === 'private' || chatKind === 'group';
  const hasAccount = accountId === undefined || typeof accountId === 'string';
  return version === 1 && typeof text === 'string' && hasKind && hasAccount && typeof coveredToMs === 'number';
}
