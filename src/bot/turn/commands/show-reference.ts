import { localTime } from '../../../shared/local-time.ts';
import type { KeyRing } from '../../../shared/crypto/key-ring.ts';
import { referenceOf } from '../../domain/turn-trace.ts';
import { RECORD_TEXTS } from '../../i18n/record-texts.ts';
import { openTurns } from '../conversation/history.ts';
import type { Outcome } from '../outcome.ts';
import { speakerTagOf } from '../prompt/turn-history.ts';
import { translate } from '../translate.ts';
import type { TurnContext } from '../turn-context.ts';

/** /ref: the reference of the person's last question here, which an administrator can look up (`admin trace`). */
export function showReference(
  { keyRing, timeZone }: { keyRing: KeyRing; timeZone: string },
  context: TurnContext,
): Outcome {
  const { turn, newest } = context;
  const own = newest.chat.kind === 'group' ? speakerTagOf(newest) : undefined;
  const last = openTurns(keyRing, turn.conversation.id, turn.history).findLast(({ speakerTag }) => speakerTag === own);
  if (!last) return { kind: 'command', text: translate(context, RECORD_TEXTS.noReference) };
  const { date, time } = localTime(last.atMs, timeZone);
  const values = { reference: referenceOf(last.turnId), time: `${date} ${time.slice(0, 'HH:MM'.length)}` };
  return { kind: 'command', text: translate(context, RECORD_TEXTS.reference, values) };
}
