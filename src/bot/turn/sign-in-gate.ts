import { MINUTE_MS, type NowMs } from '../../shared/clock.ts';
import { localize } from '../../shared/text/texts.ts';
import type { Account, Identity, SignInInvitation, SignInRequest } from '../identity/identity.ts';
import { askerOf } from './asker.ts';
import type { AdmittedContext, TurnContext } from './turn-context.ts';
import { linkValues, addressSender } from './sign-in-words.ts';
import { SIGN_IN_TEXTS } from '../i18n/sign-in-texts.ts';
import { translate } from './translate.ts';
import { TURN_TEXTS } from '../i18n/turn-texts.ts';
import type { Outcome } from './outcome.ts';
import type { KeyRing } from '../../shared/crypto/key-ring.ts';
import { pseudonymOf } from '../identity/audit.ts';
import type { Policy, Verdict } from '../policy/policy.ts';
import { sceneModels, type Scenes } from '../policy/scenes.ts';
import type { Scene } from '../policy/scenes-file.ts';
import { chosenFirst } from './commands/chosen-first.ts';
import type { SignInMode, TurnReport } from './turn-ports.ts';

export interface SignInGateOptions extends AccessOptions {
  /** Absent when sign-in is off. */
  identity: Identity | undefined;
  maxHeld: number;
  nowMs: NowMs;
}

/** Result for a question that may proceed. */
export interface Admission extends AccessGrant {
  account: Account | undefined;
}

/** A link that exists although its account cannot be used, because the record cannot be decrypted. */
type UnusableLink = Pick<SignInRequest, 'uselessLinkMs'>;

function uselessLink({ linkedAtMs }: { linkedAtMs: number }): Required<UnusableLink> {
  return { uselessLinkMs: linkedAtMs };
}

/** Refused while the person is not signed in; a sign-in might change the decision. */
interface RefusedUnlinked {
  outcome: Outcome;
  signInHelps: true;
}
/** The person must be invited to sign in. */
type SignInRequired = 'unlinked' | RefusedUnlinked;

/** Decides whether a message proceeds, waits for its sender's sign-in, or is refused. No other code makes this decision. */
export class SignInGate {
  readonly #options: SignInGateOptions;

  constructor(options: SignInGateOptions) {
    this.#options = options;
  }

  /** The account linked to the sender of a message, if any. One look-up. */
  async accountOf(context: TurnContext): Promise<Account | undefined> {
    const { platform, tenant, app, chatUserId } = askerOf(context);
    return this.#options.identity?.accountOf({ platform, tenant, app }, chatUserId);
  }

  /**
   * Admits a question, or returns the reply for its sender. Evaluated for every question, so that no outdated state decides.
   * @param holds whether the message itself is the question, which can wait for its sender's sign-in
   */
  async admit(
    context: TurnContext,
    { holds = true }: { holds?: boolean } = {},
  ): Promise<Admission | { outcome: Outcome }> {
    for (let useless: UnusableLink = {}; ;) {
      const judged = await this.judge(context);
      if (judged !== 'unlinked' && !('signInHelps' in judged)) return judged;
      const invited = await this.#inviteTo(context, { why: judged, holds, useless });
      if (!('uselessLinkMs' in invited)) return { outcome: invited };
      // A link was created between the look-up and the invitation. If it is unusable again, the loop does not wait for it
      // twice.
      useless = invited;
    }
  }

  #inviteTo(
    context: TurnContext,
    { why, holds, useless }: { why: SignInRequired; holds: boolean; useless: UnusableLink },
  ): Promise<Outcome | Required<UnusableLink>> {
    if (why !== 'unlinked') return this.#inviteWith(context, 'signInToUse', useless);
    if (context.newest.chat.kind === 'group') return this.#inviteFromGroup(context, holds, useless);
    return holds ? this.#inviteAndHold(context, useless) : this.#inviteWith(context, 'invitation', useless);
  }

  /** Like `admit`, without an invitation: `unlinked` means that the person must sign in first. */
  async judge(context: TurnContext): Promise<Admission | { outcome: Outcome } | SignInRequired> {
    const { mode } = this.#options;
    const account = mode === 'off' ? undefined : await this.accountOf(context);
    const isGroup = context.newest.chat.kind === 'group';
    if (account?.status === 'suspended') {
      context.turn.trace.note('r', 'account-suspended');
      const text = translate(context, TURN_TEXTS[isGroup ? 'notHere' : 'suspended']);
      return { outcome: { kind: 'refused', text } };
    }
    if (account?.status === 'active') return this.#judge(context, account);
    return mode === 'required' ? 'unlinked' : this.#judge(context, undefined);
  }

  #judge(context: TurnContext, account: Account | undefined): Admission | { outcome: Outcome } | RefusedUnlinked {
    const judged = judgeAccess(this.#options, context, account);
    return 'outcome' in judged ? judged : { account, ...judged };
  }

  /** /signin: a new link that replaces an existing one; for a signed-in person, a text that says so. */
  async invite(context: TurnContext): Promise<Outcome> {
    for (let useless: UnusableLink = {}; ;) {
      const account = await this.accountOf(context);
      if (account?.status === 'active') {
        const { name, accountId: id } = account;
        return { kind: 'command', text: translate(context, TURN_TEXTS.alreadyLinked, { name, id }) };
      }
      const invited = await this.#inviteWith(context, 'invitation', { mints: 'always', ...useless });
      if (!('uselessLinkMs' in invited)) return invited;
      useless = invited;
    }
  }

  /** A sign-in link without a held question. */
  async #inviteWith(
    context: TurnContext,
    text: 'invitation' | 'signInToUse' | 'tooManyHeld' | 'tooManyThreadsHeld',
    how: UnusableLink & Pick<SignInRequest, 'mints'>,
    values: Record<string, number> = {},
  ): Promise<Outcome | Required<UnusableLink>> {
    const invited = await this.#ask(context, how);
    switch (invited.kind) {
      case 'linked':
        return uselessLink(invited);
      case 'too-many':
        return this.#tooMany(context, invited.retryAtMs);
      case 'full':
        throw new TypeError('No message had to be held');
      case 'invited':
      case 'waiting': {
        const kind = text === 'invitation' ? 'sign-in' : 'refused';
        return { kind, text: this.#withLink(context, text, invited, values) };
      }
    }
  }

  async #inviteAndHold(context: TurnContext, useless: UnusableLink): Promise<Outcome | Required<UnusableLink>> {
    const { maxHeld: count } = this.#options;
    if (!this.#hasRoom(context)) return this.#inviteWith(context, 'tooManyHeld', useless, { count });
    // The conversation of the message may be a thread of the private chat.
    const { conversation } = context.turn;
    const invited = await this.#ask(context, { conversation, ...useless });
    switch (invited.kind) {
      case 'linked':
        return uselessLink(invited);
      case 'too-many':
        return this.#tooMany(context, invited.retryAtMs);
      case 'full':
        return this.#inviteWith(context, 'tooManyThreadsHeld', useless, { count: invited.maxWaiting });
      case 'invited':
        return { kind: 'sign-in', text: this.#withLink(context, 'invitationHeld', invited), hold: true };
      case 'waiting':
        return { kind: 'sign-in', text: this.#withLink(context, 'waitingForSignIn', invited), hold: true };
    }
  }

  /**
   * In a group, the reply only points to the private chat. The link is sent there if the platform lets Parley write first
   * (SECURITY.md private-invitation). The question is held in either case, until the person requests a sign-in there.
   */
  async #inviteFromGroup(
    context: TurnContext,
    isQuestion: boolean,
    useless: UnusableLink,
  ): Promise<Outcome | Required<UnusableLink>> {
    const { platform, question, newest, turn } = context;
    const holds = isQuestion && this.#hasRoom(context);
    const invited = await this.#ask(context, {
      conversation: holds ? turn.conversation : undefined,
      mints: platform.writePrivately ? undefined : 'never',
      ...useless,
    });
    if (invited.kind === 'linked') return uselessLink(invited);
    const isHeld = holds && invited.kind !== 'full';
    let isSent = false;
    if ((invited.kind === 'invited' || invited.kind === 'waiting') && invited.url !== undefined) {
      const text = this.#withLink(context, isHeld ? 'invitationForGroup' : 'invitation', invited);
      isSent = (await platform.writePrivately?.(newest.sender.userId, text)) === 'sent';
    }
    const pointer = isSent ? ('groupSignInSent' as const) : ('groupSignIn' as const);
    const ofHeld = isSent ? ('groupSignInSentHeld' as const) : ('groupSignInHeld' as const);
    const words = localize(SIGN_IN_TEXTS[isHeld ? ofHeld : pointer], question.language);
    return { kind: 'sign-in', ...(await addressSender(context, words)), hold: isHeld ? true : undefined };
  }

  #hasRoom({ turn }: TurnContext): boolean {
    return turn.heldCount + turn.messages.length <= this.#options.maxHeld;
  }

  #withLink(
    { question: { language }, newest, platform }: TurnContext,
    text: keyof typeof SIGN_IN_TEXTS,
    { url = '', expiresAtMs }: { url?: string; expiresAtMs: number },
    values: Record<string, number> = {},
  ): string {
    const isPlain = newest.chat.kind === 'group' && platform.writesMarkdownPrivately !== true;
    const words = linkValues(
      { url, expiresAtMs },
      { language, nowMs: this.#options.nowMs(), markup: isPlain ? 'plain' : 'markdown' },
    );
    return localize(SIGN_IN_TEXTS[text], language, { ...words, ...values });
  }

  async #ask(
    context: TurnContext,
    more: Pick<SignInRequest, 'conversation' | 'mints' | 'uselessLinkMs'>,
  ): Promise<SignInInvitation> {
    const { identity } = this.#options;
    if (!identity) throw new TypeError('An invitation requires sign-in to be configured');
    const { question, turn } = context;
    return identity.inviteToSignIn({ ...askerOf(context), language: question.language, askedBy: turn.turnId, ...more });
  }

  #tooMany(context: TurnContext, retryAtMs: number): Outcome {
    const minutes = Math.max(1, Math.ceil((retryAtMs - this.#options.nowMs()) / MINUTE_MS));
    context.turn.trace.note('r', 'too-many-invitations');
    return { kind: 'refused', text: translate(context, TURN_TEXTS.tooManyInvitations, { minutes }) };
  }
}

interface AccessOptions {
  policy: Policy;
  scenes: Scenes;
  mode: SignInMode;
  /** Help desk URL or `mailto:` address. */
  helpUrl: string | undefined;
  keyRing: KeyRing;
  report: Pick<TurnReport, 'accessRefused'>;
}

/** Permission: the models, the policy rule that grants them, and the scene. */
type AccessGrant = Pick<AdmittedContext, 'models' | 'rule' | 'scene' | 'budgets'>;

/** A scene only restricts: if none of the rule's models is left, the question is refused. */
function inScene(verdict: Verdict, scene: Scene | undefined): Verdict {
  if (verdict.kind !== 'allowed') return verdict;
  const models = sceneModels(scene, verdict.models);
  return models ? { ...verdict, models } : { kind: 'refused', because: 'person', rule: verdict.rule };
}

type Refusal = Extract<Verdict, { kind: 'refused' }>;

/** Applies the policy to a question, with the current state of the account. @returns the allowed models, or the refusal */
function judgeAccess(
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
