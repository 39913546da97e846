import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { trustedHtml, type SafeHtml } from '../text/html.ts';

/** The style sheet of server-rendered pages: the shared base and parts, then the rules of the pages themselves. */
export function styleSheet(own: URL): string {
  const files = [new URL('./base.css', import.meta.url), new URL('./parts.css', import.meta.url), own];
  return files.map((file) => readFileSync(file, 'utf8')).join('\n');
}

/** A style inside a page that can load nothing. @returns its element, and its source for `style-src` */
export function inlineStyle(style: string): { element: SafeHtml; source: string } {
  const hash = createHash('sha256').update(style).digest('base64');
  return { element: trustedHtml(`<style>${style}</style>`), source: `'sha256-${hash}'` };
}
