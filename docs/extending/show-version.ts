import { VERSION } from '../../../shared/version.ts';
import { WORD_TEXTS } from '../../i18n/word-texts.ts';
import type { Outcome } from '../outcome.ts';
import { translate } from '../translate.ts';
import type { TurnContext } from '../turn-context.ts';

/** /version: which version of Parley answers. */
export function showVersion(context: TurnContext): Outcome {
  return { kind: 'command', text: translate(context, WORD_TEXTS.versionIs, { version: VERSION }) };
}
