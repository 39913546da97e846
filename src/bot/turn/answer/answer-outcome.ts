import type { KeyRing } from '../../../shared/crypto/key-ring.ts';
import { localizeForChat, type Voice } from '../../i18n/say-typed.ts';
import { TURN_TEXTS } from '../../i18n/turn-texts.ts';
import type { ChatError } from '../../model/chat-error.ts';
import { isBlank } from '../../platforms/markdown/strip-thoughts.ts';
import type { Outcome } from '../outcome.ts';
import { referenceOf } from '../../domain/turn-trace.ts';
import { failedTurnHistory, turnHistory } from '../prompt/turn-history.ts';
import type { ModeratedKind, ModerationVerdict } from '../moderation/verdict.ts';
import type { TurnContext } from '../turn-context.ts';
import type { EndedAnswer } from './answer-draft.ts';
import { formatCitedSources } from './list-sources.ts';

/** The outcomes of a question, each with the history that the commit stores. */
export interface AnswerOutcomes {
  /** The question cannot be sent to a model. It remains the last question, so that /retry does not repeat an older one. */
  refused(text: string): Outcome;
  finished(answer: EndedAnswer): Outcome;
  /** Moderation blocked the question, of which nothing is kept, or the answer. */
  blocked(kind: ModeratedKind, verdict: Exclude<ModerationVerdict, 'allowed'>): Outcome;
  /** The chat service failed before any text was shown. */
  failed(error: ChatError, answer: Pick<EndedAnswer, 'startsAnew'>): Outcome;
}

/** Creates the outcomes of one turn. */
export function createAnswerOutcomes(keyRing: KeyRing, context: TurnContext, voice: Voice): AnswerOutcomes {
  const reference = referenceOf(context.turn.turnId);
  const tell = (text: keyof typeof TURN_TEXTS) => localizeForChat(TURN_TEXTS[text], voice, { reference });
  const failedHistory = (answer?: Pick<EndedAnswer, 'startsAnew'>) => failedTurnHistory(keyRing, context, answer);

  /**
   * The displayed text with the cited sources. A note below the text marks an incomplete answer; the answering model and
   * a stop by the user are shown as separate notes.
   */
  const shown = ({ text, ending, notes, sources }: EndedAnswer): Pick<Outcome, 'text' | 'note'> => {
    const lines = ending === 'stopped' ? [...notes, tell('stopped')] : notes;
    const note = lines.length === 0 ? undefined : lines.join('\n');
    const below = formatCitedSources(sources, voice.language);
    if (ending === 'whole' || ending === 'stopped') return { text: text + below, note };
    return { text: `${text}\n\n${tell(ending === 'length' ? 'lengthReached' : 'interrupted')}${below}`, note };
  };

  return {
    refused: (text) => ({ kind: 'refused', text, ...failedHistory() }),
    finished(answer) {
      const { text, ending, sources, startsAnew } = answer;
      const isStopped = ending === 'stopped';
      // Read from the current claim, because the stop command arrived during the turn.
      const stopServed = isStopped ? context.controls.claim.stop.seq : undefined;
      // An answer that consists only of reasoning shows no text, but the user waits for a reply.
      if (isBlank(text)) {
        const kind = isStopped ? 'stopped' : 'failed';
        return { kind, text: tell(isStopped ? 'stopped' : 'emptyAnswer'), ...failedHistory(answer), stopServed };
      }
      const isWhole = ending === 'whole';
      const kind = isStopped ? 'stopped' : isWhole ? 'answered' : 'interrupted';
      const said = turnHistory(keyRing, context, { text, interrupted: !isWhole, startsAnew, sources });
      const unanswered = isWhole && answer.isUnsourced === true ? ('no-source' as const) : undefined;
      return { kind, ...shown(answer), ...said, unanswered, stopServed };
    },
    blocked(kind, verdict) {
      const text = tell(
        verdict === 'unchecked' ? 'notChecked' : kind === 'prompt' ? 'questionBlocked' : 'answerBlocked',
      );
      return { kind: 'refused', text, ...(kind === 'prompt' ? {} : failedHistory()) };
    },
    // Never the service's own message.
    failed: ({ code, openedBy = code }, answer) => ({
      kind: 'failed',
      text: tell(TEXT_FOR[openedBy] ?? 'chatDown'),
      ...failedHistory(answer),
    }),
  };
}

const TEXT_FOR: Partial<Record<ChatError['code'], keyof typeof TURN_TEXTS>> = {
  chat_rate_limited: 'chatBusy',
  chat_local_limit: 'chatBusy',
  chat_loading: 'chatLoading',
  chat_refused: 'chatOff',
  chat_quota_spent: 'chatOff',
  chat_unknown_model: 'chatOff',
  chat_content_filter: 'chatFiltered',
  chat_too_large: 'chatTooLong',
  chat_bad_request: 'chatRefusedQuestion',
};
