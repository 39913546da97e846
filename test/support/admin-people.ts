export interface TypedLogin {
  username: string;
  password: string;
}

/** Logins of `examples/people.json`: an administrator of the tests and another person. */
export const TYPED_LOGINS = {
  administrator: { username: 'zhangwei', password: 'maple-river-18' },
  member: { username: 'linxiaoyu', password: 'quiet-lantern-7' },
} as const satisfies Record<string, TypedLogin>;

/** The administrator's account id. */
export const ADMIN_ACCOUNT = '20080117';
