import { asJsonObject, readJsonObject, unwrapped } from '../../../shared/sign-in/json-answer.ts';

/** The specification's required fields (section 2.6) and their types. Those that Parley cannot do without are vital. */
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
  /** `id is missing`, `active is a string`: names and types, never values. */
  vital: string[];
  others: string[];
}

/** What the profile's required fields lack, by presence and type only; undefined when the body is no JSON object. */
export function judgeProfileFields(body: string): FieldFaults | undefined {
  const answer = readJsonObject(body);
  if (!answer) return undefined;
  const profile = unwrapped(answer, 'id');
  const faults: FieldFaults = { vital: [], others: [] };
  for (const { path, type, isVital } of FIELDS) {
    const [parent, child] = path.split('.') as [string, string | undefined];
    const holder = profile[parent];
    // A missing parent is named once, not again for each of its fields.
    const inner = asJsonObject(holder);
    if (child !== undefined && !inner) continue;
    const fault = faultOf(child === undefined ? holder : inner?.[child], type);
    // A number as the id is read all the same.
    const isRead = path === 'id' && Number.isSafeInteger(holder);
    if (fault !== undefined) faults[isVital && !isRead ? 'vital' : 'others'].push(`${path} ${fault}`);
  }
  return faults;
}

function faultOf(value: unknown, type: string): string | undefined {
  if (value === undefined || value === null) return 'is missing';
  const isRight = type === 'object' ? asJsonObject(value) !== undefined : typeof value === type;
  if (!isRight) return `is of type ${Array.isArray(value) ? 'array' : typeof value}`;
  return value === '' ? 'is empty' : undefined;
}
