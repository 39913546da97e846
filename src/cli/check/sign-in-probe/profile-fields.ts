import { readJsonObject, unwrapped } from '../../../shared/sign-in/json-answer.ts';
import { asObject, isObject } from '../../../shared/parse-json.ts';

/** The specification's required profile fields and their types. Parley needs the vital ones. */
const FIELDS: readonly { path: string; type: 'string' | 'boolean' | 'object'; isVital?: true }[] = [
  { path: 'id', type: 'string', isVital: true },
  { path: 'active', type: 'boolean', isVital: true },
  { path: 'client_id', type: 'string', isVital: true },
  { path: 'parentIdentityInfo', type: 'object' },
  { path: 'parentIdentityInfo.name', type: 'string' },
  { path: 'parentIdentityInfo.code', type: 'string' },
  { path: 'attributes', type: 'object' },
  { path: 'attributes.BMBM', type: 'string' },
  { path: 'attributes.BMMC', type: 'string' },
  { path: 'attributes.XGH', type: 'string' },
  { path: 'attributes.XM', type: 'string' },
  { path: 'attributes.objectId', type: 'string' },
];

export interface FieldFaults {
  /** For example `id is missing`, `active is a string`: names and types, no values. */
  vital: string[];
  others: string[];
}

/** Checks the presence and type of the profile's required fields. Returns undefined if the body is not a JSON object. */
export function judgeProfileFields(body: string): FieldFaults | undefined {
  const answer = readJsonObject(body);
  if (!answer) return undefined;
  const profile = unwrapped(answer, 'id');
  const faults: FieldFaults = { vital: [], others: [] };
  for (const { path, type, isVital } of FIELDS) {
    const [parent, child] = path.split('.') as [string, string | undefined];
    const holder = profile[parent];
    // A missing parent is reported once, not for each of its fields.
    const inner = asObject(holder);
    if (child !== undefined && !inner) continue;
    const fault = faultOf(child === undefined ? holder : inner?.[child], type);
    // A numeric id is accepted.
    const isRead = path === 'id' && Number.isSafeInteger(holder);
    if (fault !== undefined) faults[isVital && !isRead ? 'vital' : 'others'].push(`${path} ${fault}`);
  }
  return faults;
}

function faultOf(value: unknown, type: string): string | undefined {
  if (value === undefined || value === null) return 'is missing';
  const isRight = type === 'object' ? isObject(value) : typeof value === type;
  if (!isRight) return `is of type ${Array.isArray(value) ? 'array' : typeof value}`;
  return value === '' ? 'is empty' : undefined;
}
