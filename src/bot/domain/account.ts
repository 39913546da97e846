import type { AccountId } from './ids.ts';

/** `suspended`: the institution no longer vouches for the account; `reauth`: the person has to sign in again. */
export type AccountStatus = 'active' | 'suspended' | 'reauth';

/** The institution's account that a chat person is linked to. */
export interface Account {
  /** The profile's `id`: usually a staff or student number. */
  accountId: AccountId;
  name: string;
  /** `JG` staff, `XS` student, `QT` other; empty where the profile names none. */
  identityCode: string;
  /** Department code and name; empty where the profile names none. */
  department: string;
  departmentName: string;
  linkedAtMs: number;
  status: AccountStatus;
}
