import type { KeyRing } from '../../shared/crypto/key-ring.ts';
import type { Account } from '../identity/identity.ts';
import { pseudonymOf } from '../identity/audit.ts';
import type { AppliedBudget } from '../policy/budget.ts';
import type { Models, Policy, Verdict } from '../policy/policy.ts';
import { sceneModels, type Scenes } from '../policy/scenes.ts';
import type { Scene } from '../policy/scenes-file.ts';
import { askerOf } from './asker.ts';
import { chosenFirst } from './commands/chosen-first.ts';
import type { TurnContext } from './turn-context.ts';
import { translate } from './translate.ts';
import { TURN_TEXTS } from '../i18n/turn-texts.ts';
import type { SignInMode, TurnReport } from './turn-ports.ts';
import type { Outcome } from './outcome.ts';

export interface AccessOptions {
  policy: Policy;
  scenes: Scenes;
  mode: SignInMode;
  /** Help desk URL or `mailto:` address. */
  helpUrl: string | undefined;
  keyRing: KeyRing;
  report: Pick<TurnReport, 'accessRefused'>;
}

/** Permission: the models, the policy rule that grants them, and the scene. */
export interface AccessGrant {
  models: Models;
  rule: string;
  scene: Scene | undefined;
  /** Budgets that the question is charged to. */
  budgets: readonly AppliedBudget[];
}

/** A scene only restricts: if none of the rule's models is left, the question is refused. */
function inScene(verdict: Verdict, scene: Scene | undefined): Verdict {
  if (verdict.kind !== 'allowed') return verdict;
  const models = sceneModels(scene, verdict.models);
  return models ? { ...verdict, models } : { kind: 'refused', because: 'person', rule: verdict.rule };
}

type Refusal = Extract<Verdict, { kind: 'refused' }>;

/** Applies the policy to a question, with the current state of the account. @returns the allowed models, or the refusal */
export function judgeAccess(
  options: AccessOptions,
  context: TurnContext,
  account: Account | undefined,
): AccessGrant | { outcome: Outcome } | { outcome: Outcome; signInHelps: true } {
  const { chat, platform } = context.newest;
  const scene = options.scenes.of(account, { kind: chat.kind, id: chat.id, platform });
  const verdict = inScene(options.policy.judge(account, chat), scene);
  if (verdict.kind === 'allowed')
    return {
      models: chosenFirst(verdict.models, context.preferences.model),
      rule: verdict.rule,
      scene,
      budgets: verdict.budgets,
    };
  const { because, rule } = verdict;
  const { turnId } = context.turn;
  const person = pseudonymOf(options.keyRing, askerOf(context));
  context.turn.trace.note('r', `policy:${because}`);
  options.report.accessRefused({ platform, turnId, person, because, rule });
  const outcome: Outcome = { kind: 'refused', text: refusalText(options, context, verdict) };
  const mayHelp =
    account === undefined && options.mode === 'optional' && chat.kind === 'private' && because !== 'private';
  return mayHelp ? { outcome, signInHelps: true } : { outcome };
}

/** Other members read the replies in a group, so one text covers all reasons and reveals nothing about the user. */
function refusalText({ helpUrl }: AccessOptions, context: TurnContext, { because }: Refusal): string {
  if (context.newest.chat.kind === 'group') return translate(context, TURN_TEXTS.notHere);
  if (because === 'private') return translate(context, TURN_TEXTS.groupsOnly);
  if (helpUrl === undefined) return translate(context, TURN_TEXTS.mayNotUse);
  return translate(context, TURN_TEXTS.mayNotUseHelp, { help: helpUrl.replace(/^mailto:/, '') });
}
