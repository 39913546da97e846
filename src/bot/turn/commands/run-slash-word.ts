import type { KeyRing } from '../../../shared/crypto/key-ring.ts';
import { languageOfText, localize, type Bilingual, type Language } from '../../../shared/text/texts.ts';
import type { ModelCatalog } from '../../../shared/models/model-catalog.ts';
import type { Identity } from '../../identity/identity.ts';
import type { SlashCommand, SlashCommandName } from '../../domain/slash-words.ts';
import type { AccountId } from '../../domain/ids.ts';
import { chooseLanguage, chooseThinking, chooseModel } from './choice.ts';
import { help } from './help.ts';
import type { AdmittedContext, TurnContext } from '../turn-context.ts';
import { askerOf } from '../asker.ts';
import type { SignInGate } from '../sign-in-gate.ts';
import { linkTo } from '../sign-in-words.ts';
import { SIGN_IN_TEXTS } from '../../i18n/sign-in-texts.ts';
import { TURN_TEXTS } from '../../i18n/turn-texts.ts';
import { type HistoryTurn, openTurns } from '../conversation/history.ts';
import type { Question } from '../prompt/question.ts';
import { filesOfTurn, imagesOfTurn, lastTurn, speakerTagOf } from '../prompt/turn-history.ts';
import { translate } from '../translate.ts';
import type { BudgetStore } from '../budgets/budget-store.ts';
import { exportRecord, type ExportOptions } from './export.ts';
import { forget } from './forget.ts';
import { showUsage } from './show-usage.ts';
import type { SignInMode } from '../turn-ports.ts';
import type { AnswerQuestion, Outcome } from '../outcome.ts';
import { localTime } from '../../../shared/local-time.ts';
import { referenceOf } from '../../domain/turn-trace.ts';
import { RECORD_TEXTS } from '../../i18n/record-texts.ts';
import { SOURCE_TEXTS } from '../../i18n/source-texts.ts';
import { listSources } from '../answer/list-sources.ts';

export interface SlashWordsOptions {
  keyRing: KeyRing;
  /** Capabilities of each model. */
  catalog: ModelCatalog;
  gate: SignInGate;
  identity: Identity | undefined;
  mode: SignInMode;
  answerQuestion: AnswerQuestion;
  budgets: BudgetStore;
  /** Name of the institution or the sign-in service. */
  serviceName: Bilingual;
  /** For commands about a person's stored data. */
  records: ExportOptions;
}

export type RunSlashWord = (context: TurnContext, command: SlashCommand) => Promise<Outcome>;

type Handler = (options: SlashWordsOptions, context: TurnContext, argument: string) => Promise<Outcome> | Outcome;

const HANDLERS: Readonly<Record<SlashCommandName, Handler>> = {
  help: (_options, context) => help(context, PRIVATE_WORDS),
  new: (_options, context) => ({ ...command(context, 'newConversation'), history: { forget: true } }),
  stop,
  retry,
  model: chooseModel,
  think: chooseThinking,
  lang: ({ keyRing }, context, argument) => chooseLanguage(keyRing, context, argument),
  usage: ({ records, gate, budgets }, context) => showUsage(records, { gate, budgets }, context),
  forget: ({ records }, context) => forget(records, context),
  export: async ({ records, gate }, context) => exportRecord(records, context, await gate.accountOf(context)),
  sources: async ({ keyRing, gate }, context) =>
    showSources(keyRing, context, (await gate.accountOf(context))?.accountId),
  ref: ({ records }, context) => showReference(records, context),
  whoami: whoAmI,
  signin: ({ gate, mode }, context) => (mode === 'off' ? command(context, 'signInOff') : gate.invite(context)),
  unlink,
};
/** Commands about the user's own data are answered only in the private chat. */
const PRIVATE_WORDS: ReadonlySet<SlashCommandName> = new Set<SlashCommandName>([
  'usage',
  'export',
  'whoami',
  'signin',
  'unlink',
]);

/** Runs slash commands. They are never held and never reach the model, except /retry. */
export function createRunSlashWord(options: SlashWordsOptions): RunSlashWord {
  return async (context, { word, argument }) => {
    if (PRIVATE_WORDS.has(word) && context.newest.chat.kind === 'group') return command(context, 'privateOnly');
    return HANDLERS[word](options, context, argument);
  };
}

function command(
  context: TurnContext,
  text: keyof typeof TURN_TEXTS,
  values: Record<string, string | number> = {},
): Outcome {
  return { kind: 'command', text: translate(context, TURN_TEXTS[text], values) };
}

/** The stop took effect when the message was accepted. This turn only reports whether an answer was stopped. */
function stop(_options: SlashWordsOptions, context: TurnContext): Outcome {
  const own = context.turn.messages.at(-1);
  return command(context, own && context.turn.stop.servedSeq >= own.seq ? 'stopped' : 'nothingToStop');
}

/** Argument sent by an answer's retry button: the id of the answer or a prefix of it. */
const NAMES_ANSWER = /^[0-9a-f]{8,40}$/;

/** Repeats the last question. The new answer replaces the old one in the history. */
async function retry(options: SlashWordsOptions, context: TurnContext, argument: string): Promise<Outcome> {
  const admitted = await options.gate.admit(context, { holds: false });
  if ('outcome' in admitted) return admitted.outcome;
  const { account, models, rule, scene, budgets } = admitted;
  const last = lastTurn(options.keyRing, context);
  if (!last || !isOwn(last, context, account?.accountId)) return command(context, 'nothingToRetry');
  if (NAMES_ANSWER.test(argument) && !last.turnId.startsWith(argument)) return command(context, 'notTheLast');
  const question: Question = {
    text: last.userText,
    quotedText: last.quotedText,
    images: imagesOfTurn(last),
    files: filesOfTurn(last),
    unread: [],
    language: context.preferences.language ?? languageOfLast(last, context),
  };
  const { history, historyLength } = context.turn;
  const turn = { ...context.turn, history: history.slice(0, -1), historyLength: historyLength - 1 };
  const again: AdmittedContext = {
    ...context,
    models,
    rule,
    scene,
    budgets,
    question,
    turn,
    replaced: last,
    account: account ?? context.account,
  };
  const outcome = await options.answerQuestion(again);
  const replaces = outcome.kind === 'answered' ? last.turnId : outcome.replaces;
  return { ...outcome, replaces, history: { ...outcome.history, replaceLast: true } };
}

function languageOfLast({ userText }: HistoryTurn, { question }: TurnContext): Language {
  return userText === '' ? question.language : languageOfText(userText);
}

/** A question of another person in a shared conversation, or of another account, cannot be repeated. */
function isOwn(last: HistoryTurn, context: TurnContext, accountId: AccountId | undefined): boolean {
  const isSamePerson = last.speakerTag === undefined || last.speakerTag === speakerTagOf(context.newest);
  return isSamePerson && last.accountId === accountId;
}

async function whoAmI({ gate, mode }: SlashWordsOptions, context: TurnContext): Promise<Outcome> {
  if (mode === 'off') return command(context, 'whoPlatform', { id: context.newest.sender.userId });
  const account = await gate.accountOf(context);
  return account
    ? command(context, 'whoLinked', { name: account.name, id: account.accountId })
    : command(context, 'whoUnlinked');
}

/** Deletes the link, the tokens and the history of that identity. Idempotent if the turn runs again. */
async function unlink({ identity, mode, serviceName }: SlashWordsOptions, context: TurnContext): Promise<Outcome> {
  if (mode === 'off' || !identity) return command(context, 'signInOff');
  const { platform, tenant, app, chatUserId } = askerOf(context);
  const { wasLinked, logoutUrl } = await identity.unlink({ platform, tenant, app }, chatUserId, context.turn.turnId);
  if (!wasLinked) return command(context, 'notLinked');
  const { language } = context.question;
  const service = localize(serviceName, language);
  const text =
    logoutUrl === undefined
      ? localize(SIGN_IN_TEXTS.unlinkedHere, language, { service })
      : localize(SIGN_IN_TEXTS.unlinked, language, {
          service,
          link: linkTo(logoutUrl, localize(SIGN_IN_TEXTS.signOutLabel, language), 'markdown'),
        });
  return { kind: 'command', text, history: { forget: true } };
}

/** /ref: the reference of the person's last question here, which an administrator can look up (`admin trace`). */
function showReference({ keyRing, timeZone }: { keyRing: KeyRing; timeZone: string }, context: TurnContext): Outcome {
  const { turn, newest } = context;
  const own = newest.chat.kind === 'group' ? speakerTagOf(newest) : undefined;
  const last = openTurns(keyRing, turn.conversation.id, turn.history).findLast(({ speakerTag }) => speakerTag === own);
  if (!last) return { kind: 'command', text: translate(context, RECORD_TEXTS.noReference) };
  const { date, time } = localTime(last.atMs, timeZone);
  const values = { reference: referenceOf(last.turnId), time: `${date} ${time.slice(0, 'HH:MM'.length)}` };
  return { kind: 'command', text: translate(context, RECORD_TEXTS.reference, values) };
}

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
