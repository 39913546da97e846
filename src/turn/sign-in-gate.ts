import { MINUTE_MS, type NowMs } from '../base/clock.ts';
import { say } from '../base/texts.ts';
import type { Account, Identity, SignInInvitation, SignInRequest } from '../identity/identity.ts';
import type { Models } from '../policy/policy.ts';
import { askerOf } from './asker.ts';
import { judgeAccess, type AccessOptions } from './judge-access.ts';
import type { TurnScene } from './run-turn.ts';
import { TURN_TEXTS } from '../texts/turn-texts.ts';
import type { Outcome } from './turn-types.ts';

export interface SignInGateOptions extends AccessOptions {
  /** Absent when sign-in is off. */
  identity: Identity | undefined;
  mostHeld: number;
  nowMs: NowMs;
}

/** What the gate found out about a question that may go on. */
export interface Admission {
  account: Account | undefined;
  /** The models that may answer it. */
  models: Models;
}

/** A link that was there although the account was not: its record does not open. */
type UselessLink = Pick<SignInRequest, 'uselessLinkMs'>;

function uselessLink({ linkedAtMs }: { linkedAtMs: number }): Required<UselessLink> {
  return { uselessLinkMs: linkedAtMs };
}

/** Who may ask: the one place that decides whether a message goes on, waits for its sender's sign-in, or is refused. */
export class SignInGate {
  readonly #options: SignInGateOptions;

  constructor(options: SignInGateOptions) {
    this.#options = options;
  }

  /** The account behind a message, if somebody is linked. One look-up. */
  async accountOf(scene: TurnScene): Promise<Account | undefined> {
    const { platform, tenant, app, chatUserId } = askerOf(scene);
    return this.#options.identity?.accountOf({ platform, tenant, app }, chatUserId);
  }

  /** Lets a question pass, or says what its sender sees instead. Asked for every question, so that nothing old decides. */
  async admit(scene: TurnScene): Promise<Admission | { outcome: Outcome }> {
    for (let useless: UselessLink = {}; ;) {
      const judged = await this.judge(scene);
      if (judged !== 'unlinked') return judged;
      const isGroup = scene.newest.chat.kind === 'group';
      const invited = isGroup ? await this.#inviteFromGroup(scene, useless) : await this.#inviteAndHold(scene, useless);
      if (!('uselessLinkMs' in invited)) return { outcome: invited };
      // A link was made between the look-up and the invitation. Should it be of no use again, it is not waited for twice.
      useless = invited;
    }
  }

  /** The same without an invitation: `unlinked` is somebody who would have to sign in first. */
  async judge(scene: TurnScene): Promise<Admission | { outcome: Outcome } | 'unlinked'> {
    const { mode } = this.#options;
    const account = mode === 'off' ? undefined : await this.accountOf(scene);
    const isGroup = scene.newest.chat.kind === 'group';
    if (account?.status === 'suspended') {
      const text = say(TURN_TEXTS[isGroup ? 'notHere' : 'suspended'], scene.question.language);
      return { outcome: { kind: 'refused', text } };
    }
    if (account?.status === 'active') return this.#judge(scene, account);
    return mode === 'required' ? 'unlinked' : this.#judge(scene, undefined);
  }

  #judge(scene: TurnScene, account: Account | undefined): Admission | { outcome: Outcome } {
    const judged = judgeAccess(this.#options, scene, account);
    return 'outcome' in judged ? judged : { account, ...judged };
  }

  /** /signin: a new link, which replaces one that still lives; for who is signed in a word that they are. */
  async invite(scene: TurnScene): Promise<Outcome> {
    const { language } = scene.question;
    for (let useless: UselessLink = {}; ;) {
      const account = await this.accountOf(scene);
      if (account?.status === 'active') {
        const { name, accountId: id } = account;
        return { kind: 'command', text: say(TURN_TEXTS.alreadyLinked, language, { name, id }) };
      }
      const invited = await this.#ask(scene, { force: true, ...useless });
      switch (invited.kind) {
        case 'invited':
          return { kind: 'sign-in', text: say(TURN_TEXTS.invitation, language, { url: invited.url }) };
        case 'too-many':
          return this.#tooMany(scene, invited.retryAtMs);
        case 'linked':
          useless = uselessLink(invited);
          break;
        case 'waiting':
        case 'full':
          throw new TypeError('A new link was asked for, and nothing to be held');
      }
    }
  }

  async #inviteAndHold(scene: TurnScene, useless: UselessLink): Promise<Outcome | Required<UselessLink>> {
    const { mostHeld } = this.#options;
    const { language } = scene.question;
    if (scene.turn.heldCount + scene.turn.messages.length > mostHeld) {
      return { kind: 'refused', text: say(TURN_TEXTS.tooManyHeld, language, { count: mostHeld }) };
    }
    // The conversation that holds the message is a thread of the private chat as often as the chat itself.
    const { conversation } = scene.turn;
    const invited = await this.#ask(scene, { conversation, ...useless });
    switch (invited.kind) {
      case 'linked':
        return uselessLink(invited);
      case 'too-many':
        return this.#tooMany(scene, invited.retryAtMs);
      case 'full':
        return { kind: 'refused', text: say(TURN_TEXTS.tooManyThreadsHeld, language, { count: invited.most }) };
      case 'invited':
        return { kind: 'sign-in', text: say(TURN_TEXTS.invitationHeld, language, { url: invited.url }), hold: true };
      case 'waiting':
        return { kind: 'sign-in', text: say(TURN_TEXTS.waitingForSignIn, language), hold: true };
    }
  }

  /** In a group nothing but a pointer is said; the link goes to the private chat where the platform lets us write first (security.md 1.3 step 1). */
  async #inviteFromGroup(scene: TurnScene, useless: UselessLink): Promise<Outcome | Required<UselessLink>> {
    const { platform, question } = scene;
    const pointer = (text: 'groupSignInSent' | 'groupSignIn'): Outcome => ({
      kind: 'sign-in',
      text: say(TURN_TEXTS[text], question.language),
    });
    if (!platform.writePrivately) return pointer('groupSignIn');
    const invited = await this.#ask(scene, useless);
    if (invited.kind === 'linked') return uselessLink(invited);
    if (invited.kind !== 'invited') return pointer(invited.kind === 'waiting' ? 'groupSignInSent' : 'groupSignIn');
    const text = say(TURN_TEXTS.invitation, question.language, { url: invited.url });
    const result = await platform.writePrivately(scene.newest.sender.userId, text);
    return pointer(result === 'sent' ? 'groupSignInSent' : 'groupSignIn');
  }

  async #ask(
    scene: TurnScene,
    more: Pick<SignInRequest, 'conversation' | 'force' | 'uselessLinkMs'>,
  ): Promise<SignInInvitation> {
    const { identity } = this.#options;
    if (!identity) throw new TypeError('An invitation needs the identity room');
    const { question, turn } = scene;
    return identity.askToSignIn({ ...askerOf(scene), language: question.language, askedBy: turn.turnId, ...more });
  }

  #tooMany(scene: TurnScene, retryAtMs: number): Outcome {
    const minutes = Math.max(1, Math.ceil((retryAtMs - this.#options.nowMs()) / MINUTE_MS));
    return { kind: 'refused', text: say(TURN_TEXTS.tooManyInvitations, scene.question.language, { minutes }) };
  }
}
