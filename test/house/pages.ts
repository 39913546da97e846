import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';

/** A fenced code block with its language, without indentation. */
interface Fence {
  language: string;
  lines: string[];
}

/** Every page for readers: those at the top, all below docs/, and the README of each module. */
export const PAGES: readonly string[] = [
  ...readdirSync('.').filter((name) => /^(?:README|CONTRIBUTING|SECURITY|CHANGELOG)[\w.-]*\.md$/.test(name)),
  ...readdirSync('docs', { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => join('docs', name)),
  ...readdirSync('src', { recursive: true, encoding: 'utf8' })
    .filter((name) => basename(name) === 'README.md')
    .map((name) => join('src', name)),
].sort();

export function readPage(path: string): string {
  return readFileSync(path, 'utf8');
}

/** Splits a page into its lines outside of code blocks, and the code blocks. */
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

/** The anchors of a page's headings as on GitHub: a second one with the same name gets `-1`. */
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

/**
 * Links and pictures count by their text. Characters other than letters, digits, marks, `_`, `-` and space are removed;
 * spaces become `-`.
 */
function anchorOf(heading: string): string {
  return heading
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}\p{Pc}\s-]/gu, '')
    .trim()
    .replace(/\s/g, '-');
}

/** The targets of links and pictures of a page, without code. */
export function linksOf(markdown: string): string[] {
  const text = cutFences(markdown)
    .prose.join('\n')
    .replace(/(`+)(?!`)[^]*?[^`]\1(?!`)/g, '``');
  const inline = [...text.matchAll(/\]\(\s*<?([^\s)>]*)>?(?:\s+"[^"]*")?\s*\)/g)];
  const defined = [...text.matchAll(/^\s*\[[^\]]+\]:\s*<?(\S+?)>?\s*$/gm)];
  const html = [...text.matchAll(/\b(?:href|src)="([^"]*)"/g)];
  return [...inline, ...defined, ...html].map(([, target = '']) => target);
}

/** The inline code of a page. */
export function codeOf(markdown: string): string[] {
  return cutFences(markdown).prose.flatMap((line) => [...line.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code));
}
