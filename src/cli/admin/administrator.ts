import { userInfo } from 'node:os';

/** The operating-system user who runs the command, for the audit record; the one behind sudo, if any. */
export function administrator(): string {
  return process.env['SUDO_USER'] ?? userInfo().username;
}
