import type { KeyRing } from '../../base/key-ring.ts';
import { say } from '../../base/texts.ts';
import { abilitiesOf } from '../../chat/model-abilities.ts';
import { WORD_TEXTS } from '../../texts/word-texts.ts';
import type { TurnContext } from '../turn-context.ts';
import type { SignInGate } from '../sign-in-gate.ts';
import type { Outcome } from '../outcome.ts';
import { sayTo } from '../say-to.ts';
import { AUTO_WORDS } from './argument-words.ts';
import { chosen, echoOf, plainArgument, sentences } from './choice.ts';
import { levelName, levelOf } from './level-names.ts';
import { modelsHere } from './models-here.ts';

/** /think: whether, and how hard, the model thinks before it answers this person in this chat (SERVICE.md request-fields). */
export async function chooseThinking(
  { keyRing, gate }: { keyRing: KeyRing; gate: SignInGate },
  context: TurnContext,
  argument: string,
): Promise<Outcome> {
  const { language } = context.question;
  const how = sayTo(context, WORD_TEXTS.thinkHow);
  const asked = plainArgument(argument);
  if (asked === '') return { kind: 'command', text: sentences(language, stateOf(context), how) };
  if (AUTO_WORDS.has(asked))
    return chosen(keyRing, context, { thinking: undefined }, say(WORD_TEXTS.thinkUnset, language));
  const thinking = levelOf(asked);
  if (thinking === undefined)
    return {
      kind: 'command',
      text: sentences(language, say(WORD_TEXTS.thinkUnknown, language, { asked: echoOf(argument) }), how),
    };
  if (thinking === 'off') return chosen(keyRing, context, { thinking }, say(WORD_TEXTS.thinkOff, language));
  const found = await modelsHere(gate, context);
  if ('outcome' in found) return found.outcome;
  const [model] = found.models;
  const text = abilitiesOf(model).efforts.includes(thinking) ? WORD_TEXTS.thinkOn : WORD_TEXTS.thinkOnPlain;
  return chosen(keyRing, context, { thinking }, say(text, language, { level: levelName(thinking, language), model }));
}

function stateOf({ preferences: { thinking }, question: { language } }: TurnContext): string {
  if (thinking === undefined) return say(WORD_TEXTS.thinkUnset, language);
  return say(WORD_TEXTS.thinkIs, language, { level: levelName(thinking, language) });
}
