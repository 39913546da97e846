/** A response of the platform's API: always HTTP 200, with the result in the code (PLATFORM_FACTS.md wecom-app). */
export interface ApiResult {
  errcode: number;
  errmsg: string;
  [field: string]: unknown;
}

/** The platform's error codes that the messenger uses. */
export const ERRCODE = {
  badSecret: 40_001,
  badCorpId: 40_013,
  badToken: 40_014,
  badOauthCode: 40_029,
  badAgentId: 40_056,
  badParameter: 40_058,
  missingToken: 41_001,
  expiredToken: 42_001,
  tooLong: 45_002,
  unknownUser: 60_111,
  allReceiversInvalid: 81_013,
  chatNotPushable: 93_001,
  badChatId: 93_006,
  badRequestId: 846_605,
  tooManyMessages: 846_607,
  streamExpired: 846_608,
  notSubscribed: 846_609,
  badBotSecret: 853_000,
} as const;

export function apiOk(fields: Readonly<Record<string, unknown>> = {}): ApiResult {
  return { errcode: 0, errmsg: 'ok', ...fields };
}

export function apiFault(errcode: number, errmsg: string): ApiResult {
  return { errcode, errmsg };
}
