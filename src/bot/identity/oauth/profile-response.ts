import { plainName } from '../../../shared/text/html.ts';
import { IdentityError } from '../identity-error.ts';
import { readJsonObject, unwrapped } from '../../../shared/sign-in/json-answer.ts';
import type { RawResponse } from './raw-answer.ts';
import { asAccountId, type AccountId } from '../../domain/ids.ts';
import { asObject, type JsonObject } from '../../../shared/parse-json.ts';

/** A validated profile. */
export interface Profile {
  id: AccountId;
  name: string;
  identityCode: string;
  department: string;
  departmentName: string;
  /** The text values of the profile's `attributes`, for the configured same-id rule. */
  attributes: Readonly<Record<string, string>>;
}

export interface ProfileRules {
  clientId: string;
  allowedIdentityCodes?: readonly string[];
}

/** Staff and student numbers, account names, e-mail-like ids. Excludes markup, paths and separators. */
const ID = /^[A-Za-z0-9][A-Za-z0-9._@-]{0,127}$/;
const MAX_ATTRIBUTE_CHARS = 256;

/**
 * Parses and validates a profile response (SECURITY.md usable-profile): a valid id, an active account, the expected client
 * and an allowed identity type.
 * @throws IdentityError `service_refused` if the status is not 200 or the body is not a JSON object; `profile_broken`;
 * `profile_unfit`
 */
export function readProfile(answer: RawResponse, rules: ProfileRules): Profile {
  return validateProfile(profileObject(answer), rules);
}

/**
 * Returns the profile object, unwrapped if necessary. Any other response is a failure of the service, which a retry may fix,
 * and not a refusal of the account (service-failed, not account-refused).
 * @throws IdentityError `service_refused`
 */
export function profileObject(answer: RawResponse): JsonObject {
  if (answer.status !== 200)
    throw new IdentityError('service_refused', `The profile was refused: status ${answer.status}`);
  const body = readJsonObject(answer.body);
  if (!body) throw new IdentityError('service_refused', 'The profile was not a JSON object');
  return unwrapped(body, 'id');
}

/** The attributes of a profile: either one object, or a list of objects with one attribute each. */
export function attributesIn(value: unknown): JsonObject {
  const all = Array.isArray(value) ? value : [value];
  return Object.assign({}, ...all.map((one) => asObject(one) ?? {})) as JsonObject;
}

/** Validates a profile from any protocol. @throws IdentityError `profile_broken`, `profile_unfit` */
export function validateProfile(body: JsonObject, rules: ProfileRules, form = ID): Profile {
  const { active, client_id: clientId, parentIdentityInfo: identity } = body;
  const id = Number.isSafeInteger(body['id']) ? String(body['id']) : body['id'];
  if (typeof id !== 'string' || !form.test(id)) throw broken('no usable id');
  if (typeof active !== 'boolean') throw broken('active is not a boolean');
  if (!active) throw unfit('not active');
  if (clientId !== rules.clientId) throw unfit('of another client');
  const identityCode = textOf(asObject(identity)?.['code']);
  if (rules.allowedIdentityCodes && !rules.allowedIdentityCodes.includes(identityCode))
    throw unfit('identity type not allowed');
  const attributes = textsOf(body['attributes']);
  return {
    id: asAccountId(id),
    name: plainName(attributes['XM'] ?? '') || id,
    identityCode,
    department: attributes['BMBM'] ?? '',
    departmentName: plainName(attributes['BMMC'] ?? ''),
    attributes,
  };
}

function textsOf(value: unknown): Record<string, string> {
  return Object.fromEntries(
    Object.entries(attributesIn(value)).flatMap(([name, text]) => (textOf(text) === '' ? [] : [[name, textOf(text)]])),
  );
}

function textOf(value: unknown): string {
  return typeof value === 'string' && value.length <= MAX_ATTRIBUTE_CHARS ? value : '';
}

function broken(what: string): IdentityError {
  return new IdentityError('profile_broken', `The profile cannot be read: ${what}`);
}

function unfit(what: string): IdentityError {
  return new IdentityError('profile_unfit', `The profile may not be used: ${what}`);
}
