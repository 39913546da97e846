import { MINUTE_MS, type NowMs } from '../../shared/clock.ts';
import { say } from '../../shared/text/texts.ts';
import type { Account, Identity, SignInInvitation, SignInRequest } from '../identity/identity.ts';
import { askerOf } from './asker.ts';
import { judgeAccess, type AccessOptions, type Allowed } from './judge-access.ts';
import type { TurnContext } from './turn-context.ts';
import { linkWords, toAsker } from './sign-in-words.ts';
import { SIGN_IN_TEXTS } from '../i18n/sign-in-texts.ts';
import { sayTo } from './translate.ts';
import { TURN_TEXTS } from '../i18n/turn-texts.ts';
import type { Outcome } from './outcome.ts';

export interface SignInGateOptions extends AccessOptions {
  /** Absent when sign-in is off. */
  identity: Identity | undefined;
  mostHeld: number;
  nowMs: NowMs;
}

/** What the gate found out about a question that may go on. */
export interface Admission extends Allowed {
  account: Account | undefined;
}

/** A link that was there although the account was not: its record does not open. */
type UselessLink = Pick<SignInRequest, 'uselessLinkMs'>;

function uselessLink({ linkedAtMs }: { linkedAtMs: number }): Required<UselessLink> {
  return { uselessLinkMs: linkedAtMs };
}

/** Refused as long as nobody is signed in: with whom it might be another matter. */
interface RefusedUnlinked {
  outcome: Outcome;
  signInHelps: true;
}
/** Somebody who is to be asked to sign in. */
type Unadmitted = 'unlinked' | RefusedUnlinked;

/** Who may ask: the one place that decides whether a message goes on, waits for its sender's sign-in, or is refused. */
export class SignInGate {
  readonly #options: SignInGateOptions;

  constructor(options: SignInGateOptions) {
    this.#options = options;
  }

  /** The account behind a message, if somebody is linked. One look-up. */
  async accountOf(context: TurnContext): Promise<Account | undefined> {
    const { platform, tenant, app, chatUserId } = askerOf(context);
    return this.#options.identity?.accountOf({ platform, tenant, app }, chatUserId);
  }

  /**
   * Lets a question pass, or says what its sender sees instead. Asked for every question, so that nothing old decides.
   * @param holds whether the message itself is the question, which can wait for its sender's sign-in
   */
  async admit(
    context: TurnContext,
    { holds = true }: { holds?: boolean } = {},
  ): Promise<Admission | { outcome: Outcome }> {
    for (let useless: UselessLink = {}; ;) {
      const judged = await this.judge(context);
      if (judged !== 'unlinked' && !('signInHelps' in judged)) return judged;
      const invited = await this.#inviteTo(context, { why: judged, holds, useless });
      if (!('uselessLinkMs' in invited)) return { outcome: invited };
      // A link was made between the look-up and the invitation. Should it be of no use again, it is not waited for twice.
      useless = invited;
    }
  }

  #inviteTo(
    context: TurnContext,
    { why, holds, useless }: { why: Unadmitted; holds: boolean; useless: UselessLink },
  ): Promise<Outcome | Required<UselessLink>> {
    if (why !== 'unlinked') return this.#inviteWith(context, 'signInToUse', useless);
    if (context.newest.chat.kind === 'group') return this.#inviteFromGroup(context, holds, useless);
    return holds ? this.#inviteAndHold(context, useless) : this.#inviteWith(context, 'invitation', useless);
  }

  /** The same without an invitation: `unlinked` is somebody who would have to sign in first. */
  async judge(context: TurnContext): Promise<Admission | { outcome: Outcome } | Unadmitted> {
    const { mode } = this.#options;
    const account = mode === 'off' ? undefined : await this.accountOf(context);
    const isGroup = context.newest.chat.kind === 'group';
    if (account?.status === 'suspended') {
      const text = sayTo(context, TURN_TEXTS[isGroup ? 'notHere' : 'suspended']);
      return { outcome: { kind: 'refused', text } };
    }
    if (account?.status === 'active') return this.#judge(context, account);
    return mode === 'required' ? 'unlinked' : this.#judge(context, undefined);
  }

  #judge(context: TurnContext, account: Account | undefined): Admission | { outcome: Outcome } | RefusedUnlinked {
    const judged = judgeAccess(this.#options, context, account);
    return 'outcome' in judged ? judged : { account, ...judged };
  }

  /** /signin: a new link, which replaces one that still lives; for who is signed in a word that they are. */
  async invite(context: TurnContext): Promise<Outcome> {
    for (let useless: UselessLink = {}; ;) {
      const account = await this.accountOf(context);
      if (account?.status === 'active') {
        const { name, accountId: id } = account;
        return { kind: 'command', text: sayTo(context, TURN_TEXTS.alreadyLinked, { name, id }) };
      }
      const invited = await this.#inviteWith(context, 'invitation', { mints: 'always', ...useless });
      if (!('uselessLinkMs' in invited)) return invited;
      useless = invited;
    }
  }

  /** A link that frees nothing: no question waits for it. */
  async #inviteWith(
    context: TurnContext,
    text: 'invitation' | 'signInToUse' | 'tooManyHeld' | 'tooManyThreadsHeld',
    how: UselessLink & Pick<SignInRequest, 'mints'>,
    values: Record<string, number> = {},
  ): Promise<Outcome | Required<UselessLink>> {
    const invited = await this.#ask(context, how);
    switch (invited.kind) {
      case 'linked':
        return uselessLink(invited);
      case 'too-many':
        return this.#tooMany(context, invited.retryAtMs);
      case 'full':
        throw new TypeError('Nothing was to be held');
      case 'invited':
      case 'waiting': {
        const kind = text === 'invitation' ? 'sign-in' : 'refused';
        return { kind, text: this.#withLink(context, text, invited, values) };
      }
    }
  }

  async #inviteAndHold(context: TurnContext, useless: UselessLink): Promise<Outcome | Required<UselessLink>> {
    const { mostHeld: count } = this.#options;
    if (!this.#hasRoom(context)) return this.#inviteWith(context, 'tooManyHeld', useless, { count });
    // The conversation that holds the message is a thread of the private chat as often as the chat itself.
    const { conversation } = context.turn;
    const invited = await this.#ask(context, { conversation, ...useless });
    switch (invited.kind) {
      case 'linked':
        return uselessLink(invited);
      case 'too-many':
        return this.#tooMany(context, invited.retryAtMs);
      case 'full':
        return this.#inviteWith(context, 'tooManyThreadsHeld', useless, { count: invited.most });
      case 'invited':
        return { kind: 'sign-in', text: this.#withLink(context, 'invitationHeld', invited), hold: true };
      case 'waiting':
        return { kind: 'sign-in', text: this.#withLink(context, 'waitingForSignIn', invited), hold: true };
    }
  }

  /**
   * In a group nothing but a pointer is said; the link goes to the private chat where the platform lets us write first (
   * SECURITY.md private-invitation). The question waits all the same, for a sign-in that the person asks for there.
   */
  async #inviteFromGroup(
    context: TurnContext,
    isQuestion: boolean,
    useless: UselessLink,
  ): Promise<Outcome | Required<UselessLink>> {
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
    const words = say(SIGN_IN_TEXTS[isHeld ? ofHeld : pointer], question.language);
    return { kind: 'sign-in', ...(await toAsker(context, words)), hold: isHeld ? true : undefined };
  }

  #hasRoom({ turn }: TurnContext): boolean {
    return turn.heldCount + turn.messages.length <= this.#options.mostHeld;
  }

  #withLink(
    { question: { language }, newest, platform }: TurnContext,
    text: keyof typeof SIGN_IN_TEXTS,
    { url = '', expiresAtMs }: { url?: string; expiresAtMs: number },
    values: Record<string, number> = {},
  ): string {
    const isPlain = newest.chat.kind === 'group' && platform.writesMarkdownPrivately !== true;
    const words = linkWords(
      { url, expiresAtMs },
      { language, nowMs: this.#options.nowMs(), markup: isPlain ? 'plain' : 'markdown' },
    );
    return say(SIGN_IN_TEXTS[text], language, { ...words, ...values });
  }

  async #ask(
    context: TurnContext,
    more: Pick<SignInRequest, 'conversation' | 'mints' | 'uselessLinkMs'>,
  ): Promise<SignInInvitation> {
    const { identity } = this.#options;
    if (!identity) throw new TypeError('An invitation needs the identity room');
    const { question, turn } = context;
    return identity.askToSignIn({ ...askerOf(context), language: question.language, askedBy: turn.turnId, ...more });
  }

  #tooMany(context: TurnContext, retryAtMs: number): Outcome {
    const minutes = Math.max(1, Math.ceil((retryAtMs - this.#options.nowMs()) / MINUTE_MS));
    return { kind: 'refused', text: sayTo(context, TURN_TEXTS.tooManyInvitations, { minutes }) };
  }
}
