/** What is wrong with one setting. */
export interface Fault {
  /** The setting's name, as it has to be typed. */
  setting: string;
  /** One sentence that begins with the name and says what to do; it never holds a secret. */
  message: string;
}

export function fault(setting: string, problem: string): Fault {
  return { setting, message: `${setting} ${problem}` };
}
