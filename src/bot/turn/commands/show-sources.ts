import { localize } from '../../../shared/text/texts.ts';
import type { KeyRing } from '../../../shared/crypto/key-ring.ts';
import { openTurns } from '../conversation/history.ts';
import type { AccountId } from '../../domain/ids.ts';
import { SOURCE_TEXTS } from '../../i18n/source-texts.ts';
import { listSources } from '../answer/list-sources.ts';
import type { TurnContext } from '../turn-context.ts';
import type { Outcome } from '../outcome.ts';

/**
 * /sources: the documents cited by the last answer of the conversation, or if it cites none, the documents found for it. In
 * a group, these are documents that everyone may read; in private chats, only turns of this account count.
 */
export function showSources(
  keyRing: KeyRing,
  { turn, newest, question: { language } }: TurnContext,
  accountId: AccountId | undefined,
): Outcome {
  const turns = openTurns(keyRing, turn.conversation.id, turn.history);
  const last = turns.findLast(({ assistantText }) => assistantText !== '');
  const isTheirs = newest.chat.kind === 'group' || last?.accountId === accountId;
  const sources = isTheirs ? (last?.sources ?? []) : [];
  const cited = sources.filter(({ isCited }) => isCited);
  if (sources.length === 0) return { kind: 'command', text: localize(SOURCE_TEXTS.noSources, language) };
  const text = cited.length > 0 ? SOURCE_TEXTS.usedSources : SOURCE_TEXTS.lookedInto;
  return { kind: 'command', text: localize(text, language, { list: listSources(cited.length > 0 ? cited : sources) }) };
}
