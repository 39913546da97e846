import type { NowMs } from '../../base/clock.ts';
import type { KeyRing } from '../../base/key-ring.ts';
import { languageOfText, say, type Bilingual, type Language } from '../../base/texts.ts';
import type { Identity } from '../../identity/identity.ts';
import type { SlashCommand, SlashWord } from '../../domain/slash-words.ts';
import type { AnswerQuestion } from '../ask/answer-question.ts';
import { chooseLanguage } from './choose-language.ts';
import { chooseModel } from './choose-model.ts';
import { chooseThinking } from './choose-thinking.ts';
import { help } from './help.ts';
import type { AdmittedScene, TurnScene } from '../run-turn.ts';
import { askerOf } from '../asker.ts';
import type { SignInGate } from '../sign-in-gate.ts';
import { linkTo } from '../sign-in-words.ts';
import { SIGN_IN_TEXTS } from '../../texts/sign-in-texts.ts';
import { TURN_TEXTS } from '../../texts/turn-texts.ts';
import type { HistoryTurn } from '../../conversation/history.ts';
import type { Question } from '../prompt/question.ts';
import { imagesOfTurn, lastTurn, speakerTagOf } from '../prompt/turn-history.ts';
import { sayTo } from '../say-to.ts';
import { exportHistory } from './export.ts';
import { forget, type RecordOptions } from './forget.ts';
import { showUsage } from './show-usage.ts';
import type { SignInMode } from '../turn-ports.ts';
import type { Outcome } from '../outcome.ts';

export interface SlashWordsOptions {
  keyRing: KeyRing;
  gate: SignInGate;
  identity: Identity | undefined;
  mode: SignInMode;
  answerQuestion: AnswerQuestion;
  /** The institution's or sign-in service's name. */
  serviceName: Bilingual;
  /** For words about what is kept of a person. */
  records: RecordOptions & { nowMs: NowMs };
}

export type RunSlashWord = (scene: TurnScene, command: SlashCommand) => Promise<Outcome>;

type Handler = (options: SlashWordsOptions, scene: TurnScene, argument: string) => Promise<Outcome> | Outcome;

const HANDLERS: Readonly<Record<SlashWord, Handler>> = {
  help: (_options, scene) => help(scene, PRIVATE_WORDS),
  new: startAnew,
  stop,
  retry,
  model: chooseModel,
  think: chooseThinking,
  lang: ({ keyRing }, scene, argument) => chooseLanguage(keyRing, scene, argument),
  usage: ({ records }, scene) => showUsage(records, scene),
  forget: ({ records }, scene) => forget(records, scene),
  export: exportOwn,
  whoami: whoAmI,
  signin: signIn,
  unlink,
};
/** Words about the person themself are answered in their private chat only. */
const PRIVATE_WORDS: ReadonlySet<SlashWord> = new Set<SlashWord>(['usage', 'export', 'whoami', 'signin', 'unlink']);

/** What each slash word does (contract section 7). Slash words are never held and never reach the model, but for /retry. */
export function createRunSlashWord(options: SlashWordsOptions): RunSlashWord {
  return async (scene, { word, argument }) => {
    if (PRIVATE_WORDS.has(word) && scene.newest.chat.kind === 'group') return command(scene, 'privateOnly');
    return HANDLERS[word](options, scene, argument);
  };
}

function command(
  scene: TurnScene,
  text: keyof typeof TURN_TEXTS,
  values: Record<string, string | number> = {},
): Outcome {
  return { kind: 'command', text: sayTo(scene, TURN_TEXTS[text], values) };
}

function startAnew(_options: SlashWordsOptions, scene: TurnScene): Outcome {
  return { ...command(scene, 'newConversation'), history: { forget: true } };
}

/** The stop itself happened when it was accepted; this turn only says whether it met anything. */
function stop(_options: SlashWordsOptions, scene: TurnScene): Outcome {
  const own = scene.turn.messages.at(-1);
  return command(scene, own && scene.turn.stop.servedSeq >= own.seq ? 'stopped' : 'nothingToStop');
}

/** Asks the last question again; its new answer takes the old one's place in the history. */
async function retry(options: SlashWordsOptions, scene: TurnScene): Promise<Outcome> {
  const admitted = await options.gate.admit(scene, { holds: false });
  if ('outcome' in admitted) return admitted.outcome;
  const { account, models } = admitted;
  const last = lastTurn(options.keyRing, scene);
  if (!last || !isOwn(last, scene, account?.accountId)) return command(scene, 'nothingToRetry');
  const question: Question = {
    text: last.userText,
    quotedText: last.quotedText,
    images: imagesOfTurn(last),
    language: scene.preferences.language ?? languageOfLast(last, scene),
  };
  const { history, historyLength } = scene.turn;
  const turn = { ...scene.turn, history: history.slice(0, -1), historyLength: historyLength - 1 };
  const replaced: Pick<TurnScene, 'replaced' | 'startsAnew'> = {
    replaced: last,
    ...(last.startsAnew ? { startsAnew: true } : {}),
  };
  const again: AdmittedScene = {
    ...scene,
    models,
    notes: [],
    question,
    turn,
    ...replaced,
    ...(account ? { account } : {}),
  };
  const outcome = await options.answerQuestion(again);
  const replaces = outcome.kind === 'answered' ? { replaces: last.turnId } : {};
  return { ...outcome, ...replaces, history: { ...outcome.history, replaceLast: true } };
}

function languageOfLast({ userText }: HistoryTurn, { question }: TurnScene): Language {
  return userText === '' ? question.language : languageOfText(userText);
}

/** Nobody asks again what was said by another person of a shared conversation, or under another account. */
function isOwn(last: HistoryTurn, scene: TurnScene, accountId: string | undefined): boolean {
  const isSamePerson = last.speakerTag === undefined || last.speakerTag === speakerTagOf(scene);
  return isSamePerson && last.accountId === accountId;
}

async function exportOwn({ records, gate }: SlashWordsOptions, scene: TurnScene): Promise<Outcome> {
  return exportHistory(records, scene, (await gate.accountOf(scene))?.accountId);
}

async function whoAmI({ gate, mode }: SlashWordsOptions, scene: TurnScene): Promise<Outcome> {
  if (mode === 'off') return command(scene, 'whoPlatform', { id: scene.newest.sender.userId });
  const account = await gate.accountOf(scene);
  return account
    ? command(scene, 'whoLinked', { name: account.name, id: account.accountId })
    : command(scene, 'whoUnlinked');
}

async function signIn({ gate, mode }: SlashWordsOptions, scene: TurnScene): Promise<Outcome> {
  return mode === 'off' ? command(scene, 'signInOff') : gate.invite(scene);
}

/** Deletes the link, the tokens, and what was said under that identity; the same when its turn runs again. */
async function unlink({ identity, mode, serviceName }: SlashWordsOptions, scene: TurnScene): Promise<Outcome> {
  if (mode === 'off' || !identity) return command(scene, 'signInOff');
  const { platform, tenant, app, chatUserId } = askerOf(scene);
  const { wasLinked, logoutUrl } = await identity.unlink({ platform, tenant, app }, chatUserId, scene.turn.turnId);
  if (!wasLinked) return command(scene, 'notLinked');
  const { language } = scene.question;
  const service = say(serviceName, language);
  const link = linkTo(logoutUrl, say(SIGN_IN_TEXTS.signOutLabel, language), 'markdown');
  const text = say(SIGN_IN_TEXTS.unlinked, language, { service, link });
  return { kind: 'command', text, history: { forget: true } };
}
