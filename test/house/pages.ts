import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { mutatedSource } from '../support/mutated-source.ts';

/** A block between fences, with its language and what it is indented by taken away. */
interface Fence {
  language: string;
  lines: string[];
}

/** Every page that somebody reads: those at the top and all below docs/. */
export const PAGES: readonly string[] = [
  ...readdirSync('.').filter((name) => /^(?:README|CONTRIBUTING|SECURITY|CHANGELOG)[\w.-]*\.md$/.test(name)),
  ...readdirSync('docs', { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => join('docs', name)),
].sort();

export function readPage(path: string): string {
  return mutatedSource(resolve(path), readFileSync(path, 'utf8'));
}

/** A page's lines outside of fences, and the fences. */
export function cutFences(markdown: string): { prose: string[]; fences: Fence[] } {
  const prose: string[] = [];
  const fences: Fence[] = [];
  let open: (Fence & { indent: number; mark: string }) | undefined;
  for (const line of markdown.split('\n')) {
    const [, indent = '', mark = '', language = ''] = /^(\s*)(`{3,}|~{3,})\s*(\S*)/.exec(line) ?? [];
    if (open) {
      if (mark.startsWith(open.mark)) open = undefined;
      else open.lines.push(line.slice(Math.min(open.indent, /^\s*/.exec(line)?.[0].length ?? 0)));
    } else if (mark !== '') {
      open = { language, lines: [], indent: indent.length, mark };
      fences.push(open);
    } else prose.push(line);
  }
  return { prose, fences };
}

/** The anchors of a page's headings, as GitHub makes them: a second one of the same name gets `-1`. */
export function anchorsOf(markdown: string): string[] {
  const seen = new Map<string, number>();
  return cutFences(markdown).prose.flatMap((line) => {
    const heading = /^#{1,6}\s+(.+?)(?:\s+#+)?\s*$/.exec(line)?.[1];
    if (heading === undefined) return [];
    const anchor = anchorOf(heading);
    const count = seen.get(anchor) ?? 0;
    seen.set(anchor, count + 1);
    return [count === 0 ? anchor : `${anchor}-${count}`];
  });
}

/** Links and pictures count by their words; what is neither letter, digit, mark, `_`, `-` nor space goes; spaces become `-`. */
function anchorOf(heading: string): string {
  return heading
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}\p{Pc}\s-]/gu, '')
    .trim()
    .replace(/\s/g, '-');
}

/** Where the links and pictures of a page lead, code left out. */
export function linksOf(markdown: string): string[] {
  const text = cutFences(markdown)
    .prose.join('\n')
    .replace(/(`+)(?!`)[^]*?[^`]\1(?!`)/g, '``');
  const inline = [...text.matchAll(/\]\(\s*<?([^\s)>]*)>?(?:\s+"[^"]*")?\s*\)/g)];
  const defined = [...text.matchAll(/^\s*\[[^\]]+\]:\s*<?(\S+?)>?\s*$/gm)];
  const html = [...text.matchAll(/\b(?:href|src)="([^"]*)"/g)];
  return [...inline, ...defined, ...html].map(([, target = '']) => target);
}

/** The pieces of inline code of a page. */
export function codeOf(markdown: string): string[] {
  return cutFences(markdown).prose.flatMap((line) => [...line.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code));
}
