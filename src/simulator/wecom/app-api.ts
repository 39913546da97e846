import { randomToken, sameSecret, sha256Hex } from '../../shared/crypto/ids.ts';
import { MINUTE_MS, SECOND_MS } from '../../shared/clock.ts';
import type { RedisClient } from '../../shared/redis/redis.ts';
import { privateConversationId } from '../directory.ts';
import type { PersonView } from '../api.ts';
import type { MessengerContext } from '../protocol.ts';
import type { ShortLivedSecrets } from '../short-lived-secrets.ts';
import { readAppMessage } from './read-app-message.ts';
import { apiFault, apiOk, ERRCODE, type ApiResult } from './api-result.ts';
import type { UserIds } from './user-ids.ts';

/** The self-built app beside the bot. */
export interface AppCredentials {
  corpId: string;
  agentId: string;
  agentSecret: string;
}

export interface AppApiOptions {
  side: Pick<MessengerContext, 'directory' | 'chatLog' | 'nowMs' | 'timing'>;
  userIds: UserIds;
  app: AppCredentials;
  /** Codes of the web sign-in, each for a person's id (PLATFORM_FACTS.md wecom-web-sign-in). */
  codes: ShortLivedSecrets<string>;
  redis: RedisClient;
}

/**
 * Maximum messages of one app to a member per minute; further ones are dropped without an error (PLATFORM_FACTS.md
 * wecom-app).
 */
const MAX_PER_MINUTE = 30;
const MAX_USERS = 1_000;
const DUPLICATE_CHECK_SEC = 1_800;
const MAX_DUPLICATE_CHECK_SEC = 4 * 3_600;

/**
 * The platform's API for the self-built app (PLATFORM_FACTS.md wecom-app, wecom-ids, wecom-web-sign-in). One function per
 * endpoint.
 */
export class AppApi {
  readonly #options: AppApiOptions;
  #token = { value: '', untilMs: 0 };
  readonly #previousTokens = new Set<string>();
  readonly #sentAtMs = new Map<string, number[]>();

  constructor(options: AppApiOptions) {
    this.#options = options;
  }

  /** GET /cgi-bin/gettoken. Returns the same token during its lifetime. */
  getToken(corpId: string, corpSecret: string): ApiResult {
    const { app, side } = this.#options;
    if (corpId !== app.corpId) return apiFault(ERRCODE.badCorpId, 'invalid corpid');
    if (!sameSecret(corpSecret, app.agentSecret)) return apiFault(ERRCODE.badSecret, 'invalid secret');
    const nowMs = side.nowMs();
    if (nowMs >= this.#token.untilMs) {
      this.#previousTokens.add(this.#token.value);
      this.#token = { value: randomToken(48), untilMs: nowMs + side.timing.accessTokenLifeMs };
    }
    const expiresInSec = Math.floor((this.#token.untilMs - nowMs) / SECOND_MS);
    return apiOk({ access_token: this.#token.value, expires_in: expiresInSec });
  }

  /** Error for a call's token, if it is invalid. */
  tokenFault(token: string | undefined): ApiResult | undefined {
    if (token === undefined || token === '') return apiFault(ERRCODE.missingToken, 'access_token missing');
    const isCurrent = this.#token.value !== '' && sameSecret(token, this.#token.value);
    if (isCurrent && this.#options.side.nowMs() < this.#token.untilMs) return undefined;
    return isCurrent || this.#previousTokens.has(token)
      ? apiFault(ERRCODE.expiredToken, 'access_token expired')
      : apiFault(ERRCODE.badToken, 'invalid access_token');
  }

  /** POST /cgi-bin/message/send: a system line in each receiver's private chat. */
  async sendMessage(body: unknown): Promise<ApiResult> {
    const { app, side } = this.#options;
    const message = readAppMessage(body);
    if ('errcode' in message) return message;
    if (message.agentId !== app.agentId) return apiFault(ERRCODE.badAgentId, 'invalid agentid');
    const named = message.toUser === '@all' ? side.directory.people.map(({ id }) => id) : message.toUser.split('|');
    const found = named.map((id) => ({ id, person: side.directory.findPerson(id) }));
    const receivers = found.flatMap(({ person }) => (person ? [person] : []));
    const invalid = found.filter(({ person }) => !person).map(({ id }) => id.toLowerCase());
    if (receivers.length === 0) return apiFault(ERRCODE.allReceiversInvalid, 'all receivers are invalid');
    const isRepeat = message.checkDuplicates && (await this.#wasSentBefore(message));
    if (!isRepeat) await Promise.all(receivers.map((receiver) => this.#show(receiver, message.text)));
    return apiOk({ msgid: randomToken(16), invaliduser: invalid.length > 0 ? invalid.join('|') : undefined });
  }

  /** GET /cgi-bin/auth/getuserinfo: the person for a web sign-in's code. */
  getUserInfo(code: string | undefined): ApiResult {
    const userid = this.#options.codes.take(code ?? '');
    return userid === undefined ? apiFault(ERRCODE.badOauthCode, 'invalid or used code') : apiOk({ userid });
  }

  /** GET /cgi-bin/user/get */
  getUser(userId: string | undefined): ApiResult {
    const person = this.#options.side.directory.findPerson(userId ?? '');
    return person ? apiOk({ userid: person.id, name: person.name }) : apiFault(ERRCODE.unknownUser, 'userid not found');
  }

  /** POST /cgi-bin/batch/openuserid_to_userid: plain ids are returned as invalid (PLATFORM_FACTS.md wecom-ids). */
  resolveOpenUserIds(body: unknown): ApiResult {
    const list = (body as { open_userid_list?: unknown } | undefined)?.open_userid_list;
    if (!Array.isArray(list) || list.length === 0 || list.length > MAX_USERS) {
      return apiFault(ERRCODE.badParameter, 'open_userid_list has 1 to 1000 ids');
    }
    const ids = list.map(String);
    const resolved = ids.map((id) => ({
      open_userid: id,
      userid: this.#options.userIds.findByOpenUserId(id)?.id,
    }));
    return apiOk({
      userid_list: resolved.filter(({ userid }) => userid !== undefined),
      invalid_open_userid_list: resolved.filter(({ userid }) => userid === undefined).map((entry) => entry.open_userid),
    });
  }

  async #wasSentBefore({
    toUser,
    text,
    intervalSec = DUPLICATE_CHECK_SEC,
  }: {
    toUser: string;
    text: string;
    intervalSec?: number;
  }): Promise<boolean> {
    const key = `messenger:sent:${sha256Hex(`${toUser}|${text}`)}`;
    const lifeSec = Math.min(Math.max(1, intervalSec), MAX_DUPLICATE_CHECK_SEC);
    return (await this.#options.redis.set(key, '1', 'EX', lifeSec, 'NX')) === null;
  }

  async #show(receiver: PersonView, text: string): Promise<void> {
    const { side } = this.#options;
    const recent = (this.#sentAtMs.get(receiver.id) ?? []).filter((atMs) => atMs > side.nowMs() - MINUTE_MS);
    if (recent.length >= MAX_PER_MINUTE) return;
    this.#sentAtMs.set(receiver.id, [...recent, side.nowMs()]);
    await side.chatLog.writeSystemLine(privateConversationId(receiver.id), text);
  }
}
