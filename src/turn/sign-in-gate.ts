import { MINUTE_MS, type NowMs } from '../base/clock.ts';
import { say } from '../base/texts.ts';
import type { GroupScope } from '../platforms/conversation-key.ts';
import { conversationOf } from '../platforms/conversation-key.ts';
import type { Account, Identity, SignInInvitation } from '../identity/identity.ts';
import type { Models } from '../policy/policy.ts';
import { askerOf } from './asker.ts';
import { judgeAccess, type AccessOptions } from './judge-access.ts';
import type { TurnScene } from './run-turn.ts';
import { TURN_TEXTS } from '../texts/turn-texts.ts';
import type { Outcome } from './turn-types.ts';

export interface SignInGateOptions extends AccessOptions {
  /** Absent when sign-in is off. */
  identity: Identity | undefined;
  groupScope: GroupScope;
  mostHeld: number;
  nowMs: NowMs;
}

/** What the gate found out about a question that may go on. */
export interface Admission {
  account: Account | undefined;
  /** The models that may answer it. */
  models: Models;
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
    const judged = await this.judge(scene);
    if (judged !== 'unlinked') return judged;
    const isGroup = scene.newest.chat.kind === 'group';
    return { outcome: isGroup ? await this.#inviteFromGroup(scene) : await this.#inviteAndHold(scene) };
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

  /** /signin: a new link, which replaces one that still lives. */
  async invite(scene: TurnScene): Promise<Outcome> {
    const { language } = scene.question;
    const invited = await this.#ask(scene, true);
    if (invited.kind === 'invited')
      return { kind: 'sign-in', text: say(TURN_TEXTS.invitation, language, { url: invited.url }) };
    return this.#tooMany(scene, invited.kind === 'too-many' ? invited.retryAtMs : invited.expiresAtMs);
  }

  async #inviteAndHold(scene: TurnScene): Promise<Outcome> {
    const { mostHeld } = this.#options;
    const { language } = scene.question;
    if (scene.turn.heldCount + scene.turn.messages.length > mostHeld) {
      return { kind: 'refused', text: say(TURN_TEXTS.tooManyHeld, language, { count: mostHeld }) };
    }
    const invited = await this.#ask(scene, false);
    if (invited.kind === 'too-many') return this.#tooMany(scene, invited.retryAtMs);
    const text =
      invited.kind === 'invited'
        ? say(TURN_TEXTS.invitationHeld, language, { url: invited.url })
        : say(TURN_TEXTS.waitingForSignIn, language);
    return { kind: 'sign-in', text, hold: true };
  }

  /** In a group nothing but a pointer is said; the link goes to the private chat where the platform lets us write first (security.md 1.3 step 1). */
  async #inviteFromGroup(scene: TurnScene): Promise<Outcome> {
    const { platform, question } = scene;
    const isSent = platform.writePrivately !== undefined && (await this.#sendInvitation(scene));
    return { kind: 'sign-in', text: say(TURN_TEXTS[isSent ? 'groupSignInSent' : 'groupSignIn'], question.language) };
  }

  async #sendInvitation(scene: TurnScene): Promise<boolean> {
    const invited = await this.#ask(scene, false);
    if (invited.kind !== 'invited') return invited.kind === 'waiting';
    const text = say(TURN_TEXTS.invitation, scene.question.language, { url: invited.url });
    return (await scene.platform.writePrivately?.(scene.newest.sender.userId, text)) === 'sent';
  }

  async #ask(scene: TurnScene, force: boolean): Promise<SignInInvitation> {
    const { identity, groupScope } = this.#options;
    if (!identity) throw new TypeError('An invitation needs the identity room');
    const { newest, question, turn } = scene;
    const privateChat = { kind: 'private' as const, id: newest.sender.userId };
    const conversation = conversationOf({ ...newest, chat: privateChat }, groupScope);
    const asked = { conversation, language: question.language, force, askedBy: turn.turnId };
    return identity.askToSignIn({ ...askerOf(scene), ...asked });
  }

  #tooMany(scene: TurnScene, retryAtMs: number): Outcome {
    const minutes = Math.max(1, Math.ceil((retryAtMs - this.#options.nowMs()) / MINUTE_MS));
    return { kind: 'refused', text: say(TURN_TEXTS.tooManyInvitations, scene.question.language, { minutes }) };
  }
}
