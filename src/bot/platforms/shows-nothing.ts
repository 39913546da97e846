import { isBlank } from './markdown/strip-thoughts.ts';

/** Whether a finished text shows nothing on any platform; checked before any of it is rendered. */
export function rendersBlank(text: string): boolean {
  return isBlank(text);
}
