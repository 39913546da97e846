import type { TurnTrace } from '../../domain/turn-trace.ts';
import type { ChatClient } from '../../model/chat-types.ts';

/** The same client, which also notes each call of the turn: models, outcomes, times and tokens, never a text. */
export function traced(chat: Pick<ChatClient, 'stream'>, trace: TurnTrace): Pick<ChatClient, 'stream'> {
  return {
    stream(request, signal, onEvent) {
      let hasBegun = false;
      trace.note('m', request.model);
      const onCallEnd: NonNullable<typeof request.onCallEnd> = ({ model, outcome, durationMs, firstEventMs }) => {
        const firstMs = firstEventMs === undefined ? '' : Math.round(firstEventMs);
        trace.note('h', model, outcome, firstMs, Math.round(durationMs));
      };
      return chat.stream({ ...request, onCallEnd }, signal, (event) => {
        if (!hasBegun && (event.type === 'text' || event.type === 'reasoning')) {
          hasBegun = true;
          trace.note('f');
        } else if (event.type === 'usage') trace.note('u', event.promptTokens, event.completionTokens);
        onEvent(event);
      });
    },
  };
}
