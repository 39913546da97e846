import type { CheckResult } from '../../bot/platforms/platform.ts';
import type { Changes } from './settings-file.ts';
import type { TextName } from './setup-texts.ts';
import {
  findClientAuth,
  findSignIn,
  isReached,
  listModels,
  tryBot,
  tryEngine,
  tryIssuer,
  tryKey,
  tryModels,
  tryPlatform,
  tryRedis,
  trySignIn,
  type Answers,
} from './trials.ts';

/** An answer that can be chosen, and the settings it stands for. */
export interface StepChoice {
  label: TextName;
  hint?: TextName;
  settings: Changes;
  /** Whether it is offered; always by default. */
  isOffered?(answers: Answers): boolean;
}

/** One question. Without choices or a list, its values are typed: several of them in one line. */
export interface Step {
  /** The settings that it fills, in the order in which they are typed. */
  settings: readonly [TextName, ...TextName[]];
  /** Asked always by default. */
  isAsked?(answers: Answers): boolean;
  /** Alternatives; a single one that is offered is not asked. */
  choices?: readonly StepChoice[];
  /** Alternatives that a service lists. If it lists none, a text is typed. */
  list?(answers: Answers): Promise<string[]>;
  /** What is taken without a question, to be changed in the summary; undefined if the question is asked. */
  assume?(answers: Answers): Promise<Changes | undefined>;
  /** Whether further values of the line belong to the next step, which continues this one. */
  isContinued?: boolean;
  /** Whether an empty answer means none. */
  isOptional?(answers: Answers): boolean;
  /** What an empty answer means at the terminal. */
  whenEmpty?: { note: TextName; settings?: Changes };
  suggested?: string;
  /** Whether the value is shown although it is secret: it may contain a password, but rarely does. */
  isShown?: boolean;
  /** Further settings that follow from the answers. */
  derive?(answers: Answers): Promise<Changes>;
  /** Tries the answers so far. */
  trial?(answers: Answers): Promise<CheckResult[]>;
  /** First setting of the step to which a failed trial returns; this one by default. */
  returnsTo?: string;
  /** First settings of the steps that are asked again if this one is. */
  reopens?: readonly string[];
}

const isServing = ({ MESSENGER_PROTOCOL: simulated }: Answers) => simulated === undefined;
const hasSignIn = ({ SIGN_IN: mode, SIGN_IN_URL: url }: Answers) => mode !== 'off' && url !== undefined;
const hasClient = (answers: Answers) => hasSignIn(answers) && answers['SIGN_IN_TYPE'] !== 'cas';
const isSlack = (answers: Answers) => isServing(answers) && answers['SLACK_CONNECT'] !== undefined;
const isWecom = (answers: Answers) => isServing(answers) && answers['WECOM_CONNECT'] !== undefined;
const isOn = (name: 'WECOM_CONNECT' | 'SLACK_CONNECT', value: string) => (answers: Answers) =>
  isServing(answers) && answers[name] === value;
/** Whether the app's own web sign-in can prove who opened a sign-in link. */
const hasWebSignIn = (answers: Answers) =>
  (!isWecom(answers) || answers['WECOM_AGENT_SECRET'] !== undefined) &&
  (!isSlack(answers) || answers['SLACK_CLIENT_SECRET'] !== undefined);

/** A platform of its own, so that settings of another answer do not remain. */
const platform = (settings: Changes): Changes => ({
  ...{ MESSENGER_PROTOCOL: undefined, WECOM_CONNECT: undefined, SLACK_CONNECT: undefined },
  ...settings,
});
const LOCAL_REDIS = 'redis://127.0.0.1:6379';
/** Maximum models of a service that are all offered to people without a question. */
const MAX_ASSUMED_MODELS = 20;
/** Keeps the stored value, or takes this one. */
const assuming =
  (setting: string, value: string) =>
  async (answers: Answers): Promise<Changes> => ({ [setting]: answers[setting] ?? value });
const NO_SERVICE: Changes = { SIGN_IN_TYPE: undefined, SIGN_IN_URL: undefined };

/** All questions, in their order. A trial may use everything that is asked before it. */
export const STEPS: readonly Step[] = [
  {
    settings: ['MESSENGER_PROTOCOL'],
    isOptional: () => true,
    choices: [
      { label: 'local', settings: platform({ MESSENGER_PROTOCOL: 'wecom' }) },
      { label: 'wecomConnection', hint: 'needsNoPublic', settings: platform({ WECOM_CONNECT: 'connection' }) },
      { label: 'wecomCallback', hint: 'needsPublic', settings: platform({ WECOM_CONNECT: 'callback' }) },
      { label: 'slackSocket', hint: 'needsNoPublic', settings: platform({ SLACK_CONNECT: 'socket' }) },
      { label: 'slackHttp', hint: 'needsPublic', settings: platform({ SLACK_CONNECT: 'http' }) },
    ],
  },
  {
    settings: ['REDIS_URL'],
    isAsked: isServing,
    isShown: true,
    suggested: LOCAL_REDIS,
    assume: async ({ REDIS_URL: stored }) =>
      stored === undefined && (await isReached(LOCAL_REDIS)) ? { REDIS_URL: LOCAL_REDIS } : undefined,
    trial: tryRedis,
  },
  { settings: ['PUBLIC_URL'], isAsked: isServing },
  {
    // Parley speaks plain HTTP, so that an https address means a proxy.
    settings: ['TRUSTED_PROXY_HOPS'],
    isAsked: (answers) => isServing(answers) && (answers['PUBLIC_URL'] ?? '').startsWith('https:'),
    isOptional: () => true,
    assume: assuming('TRUSTED_PROXY_HOPS', '1'),
  },
  {
    settings: ['WECOM_BOT_TOKEN', 'WECOM_BOT_AES_KEY'],
    isAsked: isOn('WECOM_CONNECT', 'callback'),
    isContinued: true,
    trial: tryBot,
  },
  {
    settings: ['WECOM_BOT_ID', 'WECOM_BOT_SECRET'],
    isAsked: isOn('WECOM_CONNECT', 'connection'),
    isContinued: true,
    trial: tryBot,
  },
  {
    settings: ['WECOM_CORP_ID', 'WECOM_AGENT_ID', 'WECOM_AGENT_SECRET'],
    isAsked: isWecom,
    isOptional: () => true,
    whenEmpty: { note: 'noApp' },
    trial: tryPlatform,
  },
  {
    settings: ['WECOM_BOT_NAME'],
    isAsked: isWecom,
    isOptional: () => true,
    assume: assuming('WECOM_BOT_NAME', 'Parley'),
  },
  {
    settings: ['SLACK_SIGNING_SECRET', 'SLACK_BOT_TOKEN'],
    isAsked: isOn('SLACK_CONNECT', 'http'),
    isContinued: true,
    trial: tryBot,
  },
  {
    settings: ['SLACK_APP_TOKEN', 'SLACK_BOT_TOKEN'],
    isAsked: isOn('SLACK_CONNECT', 'socket'),
    isContinued: true,
    trial: tryBot,
  },
  {
    settings: ['SLACK_CLIENT_ID', 'SLACK_CLIENT_SECRET'],
    isAsked: isSlack,
    isOptional: () => true,
    whenEmpty: { note: 'noSlackSignIn' },
    trial: tryPlatform,
  },
  { settings: ['CHAT_BASE_URL'], trial: tryEngine, reopens: ['CHAT_API_KEY', 'CHAT_MODELS'] },
  {
    settings: ['CHAT_API_KEY'],
    isOptional: () => true,
    whenEmpty: { note: 'none' },
    trial: tryKey,
    reopens: ['CHAT_MODELS'],
  },
  {
    settings: ['CHAT_MODELS'],
    isOptional: () => true,
    list: listModels,
    assume: async (answers) => {
      const count = answers['CHAT_MODELS'] === undefined ? (await listModels(answers)).length : 0;
      return count > 0 && count <= MAX_ASSUMED_MODELS ? {} : undefined;
    },
    trial: tryModels,
    returnsTo: 'CHAT_BASE_URL',
  },
  {
    settings: ['SIGN_IN_URL'],
    isOptional: (answers) => !isServing(answers) || answers['SIGN_IN'] === 'off',
    whenEmpty: { note: 'none', settings: NO_SERVICE },
    derive: findSignIn,
    trial: tryIssuer,
    reopens: ['SIGN_IN_TYPE', 'SIGN_IN_CLIENT_ID'],
  },
  {
    settings: ['SIGN_IN'],
    isAsked: (answers) => answers['SIGN_IN_URL'] === undefined,
    isOptional: () => true,
    choices: [
      { label: 'builtIn', settings: { SIGN_IN: 'required' }, isOffered: (answers) => !isServing(answers) },
      { label: 'off', hint: 'offHint', settings: { SIGN_IN: 'off' } },
    ],
  },
  {
    settings: ['SIGN_IN_TYPE'],
    isAsked: hasSignIn,
    isOptional: () => true,
    // The service usually shows its protocol.
    assume: async (answers) => (answers['SIGN_IN_TYPE'] === undefined ? undefined : {}),
    choices: [
      { label: 'oidc', hint: 'oidcHint', settings: { SIGN_IN_TYPE: 'oidc' } },
      { label: 'oauth2', settings: { SIGN_IN_TYPE: 'oauth2' } },
      { label: 'cas', settings: { SIGN_IN_TYPE: 'cas' } },
    ],
    trial: tryIssuer,
    returnsTo: 'SIGN_IN_URL',
  },
  {
    settings: ['SIGN_IN_CLIENT_ID', 'SIGN_IN_CLIENT_SECRET'],
    isAsked: hasClient,
    derive: findClientAuth,
    trial: trySignIn,
  },
  {
    settings: ['SIGN_IN_PROOF'],
    isAsked: (answers) => isServing(answers) && hasSignIn(answers),
    isOptional: hasWebSignIn,
    assume: async (answers) => (hasWebSignIn(answers) ? assuming('SIGN_IN_PROOF', 'same-browser')(answers) : undefined),
    choices: [
      { label: 'sameBrowser', settings: { SIGN_IN_PROOF: 'same-browser' }, isOffered: hasWebSignIn },
      { label: 'sameId', settings: { SIGN_IN_PROOF: 'same-id' } },
      { label: 'typedCode', hint: 'weakest', settings: { SIGN_IN_PROOF: 'typed-code' } },
    ],
  },
];
