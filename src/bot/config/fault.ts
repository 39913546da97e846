/** A problem with one setting. */
export interface Fault {
  /** Name of the setting as typed. */
  setting: string;
  /** One sentence that begins with the name and says what to do. Never contains a secret. */
  message: string;
}

export function fault(setting: string, problem: string): Fault {
  return { setting, message: `${setting} ${problem}` };
}
