import type { CheckResult } from '../../bot/platforms/platform.ts';
import type { Changes } from './settings-file.ts';
import type { TextName } from './setup-texts.ts';
import {
  listModels,
  tryEngine,
  tryIssuer,
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

/** One question. */
export interface Step {
  /** The setting that it fills, or the first one. */
  setting: string;
  question: TextName;
  /** Asked always by default. */
  isAsked?(answers: Answers): boolean;
  /** Alternatives; without them a text is typed. */
  choices?: readonly StepChoice[];
  /** Alternatives that a service lists; if it lists none, a text is typed, and a single one is not asked. */
  list?(answers: Answers): Promise<string[]>;
  isSecret?: boolean;
  /** Whether an empty answer means none. */
  isOptional?(answers: Answers): boolean;
  suggested?: string;
  /** Tries the answers so far. */
  trial?(answers: Answers): Promise<CheckResult[]>;
  /** Setting of the step to which a failed trial returns; this one by default. */
  returnsTo?: string;
}

const isServing = ({ MESSENGER_PROTOCOL: simulated }: Answers) => simulated === undefined;
const hasSignIn = ({ SIGN_IN: mode, SIGN_IN_TYPE: type }: Answers) => mode !== 'off' && type !== undefined;
const hasClient = (answers: Answers) => hasSignIn(answers) && answers['SIGN_IN_TYPE'] !== 'cas';
const isOn = (name: 'WECOM_CONNECT' | 'SLACK_CONNECT', value: string) => (answers: Answers) =>
  isServing(answers) && answers[name] === value;
const isSlack = (answers: Answers) => isServing(answers) && answers['SLACK_CONNECT'] !== undefined;
const isWecom = (answers: Answers) => isServing(answers) && answers['WECOM_CONNECT'] !== undefined;
const opensBrowser = (answers: Answers) =>
  isServing(answers) && hasSignIn(answers) && (answers['SIGN_IN_PROOF'] ?? '').includes('same-browser');

/** A platform of its own, so that settings of another answer do not remain. */
const platform = (settings: Changes): Changes => ({
  ...{ MESSENGER_PROTOCOL: undefined, WECOM_CONNECT: undefined, SLACK_CONNECT: undefined },
  ...settings,
});
const signIn = (type: string | undefined): Changes => ({ SIGN_IN: 'required', SIGN_IN_TYPE: type });

/** All questions, in their order. A trial may use everything that is asked before it. */
export const STEPS: readonly Step[] = [
  {
    setting: 'MESSENGER_PROTOCOL',
    question: 'platform',
    choices: [
      { label: 'local', settings: platform({ MESSENGER_PROTOCOL: 'wecom' }) },
      { label: 'wecomConnection', hint: 'needsNoPublic', settings: platform({ WECOM_CONNECT: 'connection' }) },
      { label: 'wecomCallback', hint: 'needsPublic', settings: platform({ WECOM_CONNECT: 'callback' }) },
      { label: 'slackSocket', hint: 'needsNoPublic', settings: platform({ SLACK_CONNECT: 'socket' }) },
      { label: 'slackHttp', hint: 'needsPublic', settings: platform({ SLACK_CONNECT: 'http' }) },
    ],
  },
  {
    setting: 'REDIS_URL',
    question: 'REDIS_URL',
    isAsked: isServing,
    suggested: 'redis://127.0.0.1:6379',
    trial: tryRedis,
  },
  { setting: 'PUBLIC_URL', question: 'PUBLIC_URL', isAsked: isServing },
  {
    setting: 'WECOM_BOT_TOKEN',
    question: 'WECOM_BOT_TOKEN',
    isAsked: isOn('WECOM_CONNECT', 'callback'),
    isSecret: true,
  },
  {
    setting: 'WECOM_BOT_AES_KEY',
    question: 'WECOM_BOT_AES_KEY',
    isAsked: isOn('WECOM_CONNECT', 'callback'),
    isSecret: true,
  },
  { setting: 'WECOM_BOT_ID', question: 'WECOM_BOT_ID', isAsked: isOn('WECOM_CONNECT', 'connection') },
  {
    setting: 'WECOM_BOT_SECRET',
    question: 'WECOM_BOT_SECRET',
    isAsked: isOn('WECOM_CONNECT', 'connection'),
    isSecret: true,
    trial: tryPlatform,
    returnsTo: 'WECOM_BOT_ID',
  },
  {
    setting: 'SLACK_SIGNING_SECRET',
    question: 'SLACK_SIGNING_SECRET',
    isAsked: isOn('SLACK_CONNECT', 'http'),
    isSecret: true,
  },
  { setting: 'SLACK_APP_TOKEN', question: 'SLACK_APP_TOKEN', isAsked: isOn('SLACK_CONNECT', 'socket'), isSecret: true },
  { setting: 'SLACK_BOT_TOKEN', question: 'SLACK_BOT_TOKEN', isAsked: isSlack, isSecret: true, trial: tryPlatform },
  { setting: 'CHAT_BASE_URL', question: 'CHAT_BASE_URL', trial: tryEngine },
  {
    setting: 'CHAT_API_KEY',
    question: 'CHAT_API_KEY',
    isSecret: true,
    isOptional: () => true,
  },
  {
    setting: 'CHAT_MODELS',
    question: 'CHAT_MODELS',
    list: listModels,
    trial: tryModels,
    returnsTo: 'CHAT_BASE_URL',
  },
  {
    setting: 'SIGN_IN',
    question: 'signIn',
    choices: [
      { label: 'oidc', hint: 'oidcHint', settings: signIn('oidc') },
      { label: 'oauth2', settings: signIn('oauth2') },
      { label: 'cas', settings: signIn('cas') },
      {
        label: 'builtIn',
        settings: { ...signIn(undefined), SIGN_IN_URL: undefined },
        isOffered: (answers) => !isServing(answers),
      },
      { label: 'off', hint: 'offHint', settings: { SIGN_IN: 'off', SIGN_IN_TYPE: undefined } },
    ],
  },
  { setting: 'SIGN_IN_URL', question: 'SIGN_IN_URL', isAsked: hasSignIn, trial: tryIssuer },
  { setting: 'SIGN_IN_CLIENT_ID', question: 'SIGN_IN_CLIENT_ID', isAsked: hasClient },
  {
    setting: 'SIGN_IN_CLIENT_SECRET',
    question: 'SIGN_IN_CLIENT_SECRET',
    isAsked: hasClient,
    isSecret: true,
    trial: trySignIn,
    returnsTo: 'SIGN_IN_CLIENT_ID',
  },
  {
    setting: 'SIGN_IN_PROOF',
    question: 'SIGN_IN_PROOF',
    isAsked: (answers) => isServing(answers) && hasSignIn(answers),
    choices: [
      { label: 'sameBrowser', settings: { SIGN_IN_PROOF: 'same-browser' } },
      { label: 'sameId', settings: { SIGN_IN_PROOF: 'same-id' } },
      { label: 'typedCode', hint: 'weakest', settings: { SIGN_IN_PROOF: 'typed-code' } },
    ],
  },
  {
    setting: 'WECOM_CORP_ID',
    question: 'WECOM_CORP_ID',
    isAsked: (answers) => isWecom(answers) && opensBrowser(answers),
  },
  {
    setting: 'WECOM_AGENT_ID',
    question: 'WECOM_AGENT_ID',
    isAsked: (answers) => isWecom(answers) && opensBrowser(answers),
  },
  {
    setting: 'WECOM_AGENT_SECRET',
    question: 'WECOM_AGENT_SECRET',
    isAsked: (answers) => isWecom(answers) && opensBrowser(answers),
    isSecret: true,
    trial: tryPlatform,
    returnsTo: 'WECOM_CORP_ID',
  },
  {
    setting: 'SLACK_CLIENT_ID',
    question: 'SLACK_CLIENT_ID',
    isAsked: (answers) => isSlack(answers) && opensBrowser(answers),
  },
  {
    setting: 'SLACK_CLIENT_SECRET',
    question: 'SLACK_CLIENT_SECRET',
    isAsked: (answers) => isSlack(answers) && opensBrowser(answers),
    isSecret: true,
    trial: tryPlatform,
    returnsTo: 'SLACK_CLIENT_ID',
  },
];
