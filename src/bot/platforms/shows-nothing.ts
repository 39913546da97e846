import { isBlank } from './markdown/strip-thoughts.ts';

/** Whether a finished text shows nothing on any platform; told before anything of it is written for one. */
export function showsNothing(text: string): boolean {
  return isBlank(text);
}
