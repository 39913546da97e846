import type { AccountId } from './ids.ts';

/** `suspended`: the institution no longer confirms the account. `reauth`: the person must sign in again. */
export type AccountStatus = 'active' | 'suspended' | 'reauth';

/** The institution's account that a chat person is linked to. */
export interface Account {
  /** The profile's `id`: usually a staff or student number. */
  accountId: AccountId;
  name: string;
  /** `JG` staff, `XS` student, `QT` other; empty if the profile has none. */
  identityCode: string;
  /** Department code and name; empty if the profile has none. */
  department: string;
  departmentName: string;
  linkedAtMs: number;
  status: AccountStatus;
}
