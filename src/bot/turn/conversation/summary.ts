import type { KeyRing } from '../../../shared/crypto/key-ring.ts';
import { tryOpenJson } from '../../../shared/crypto/decrypt-record.ts';
import type { AccountId, ConversationId } from '../../domain/ids.ts';

/** Generated summary of a conversation's older turns, which prompts no longer contain. */
export interface ConversationSummary {
  version: 1;
  text: string;
  chatKind: 'private' | 'group';
  /** The account of all summarized turns; absent if the conversation has several accounts, or sign-in is off. */
  accountId?: AccountId;
  /** Time of the newest covered question; all earlier turns of the same scope are covered too. */
  coveredToMs: number;
}

const PURPOSE = 'summary';

/** Encrypts a summary for its conversation. It cannot be decrypted for another conversation. */
export function sealSummary(keyRing: KeyRing, conversationId: ConversationId, summary: ConversationSummary): string {
  return keyRing.seal(PURPOSE, conversationId, JSON.stringify(summary));
}

/**
 * Decrypts a conversation's summary. Undefined if there is none, or it is cleared, broken, without an available key or of an
 * unknown version: the conversation continues without it (SECURITY.md key-rotation).
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

/** Restricts the turns that a reader of a summary may see. */
export interface SummedScope {
  chatKind: ConversationSummary['chatKind'];
  /** Absent if the conversation has several accounts, or none. */
  accountId?: AccountId;
  /** Earlier turns belong to another conversation. Milliseconds; `-Infinity` for no limit. */
  beganAtMs: number;
}

/**
 * Decrypts a conversation's summary for a scope; undefined if it belongs to another scope or does not exist
 * (SECURITY.md link-is-told).
 */
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
