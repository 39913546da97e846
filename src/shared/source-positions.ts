import { readFileSync } from 'node:fs';
import { SourceMap, type SourceMapPayload } from 'node:module';
import { fileURLToPath } from 'node:url';

/** A position in a stack, such as `file:///app/dist/main.js:12:5`. */
const POSITION = /file:\/\/[^\s():]+:\d+:\d+/g;
/** A process has few places that fail. */
const MAX_KEPT = 1_000;
const kept = new Map<string, string>();

/**
 * Names the positions of a stack by source file and line. The source maps are read only then: read at the start, as with
 * `--enable-source-maps`, they would take more time and memory than the program.
 */
export function withSourcePositions(stack: string): string {
  const maps = new Map<string, SourceMap | undefined>();
  return stack.replace(POSITION, (position) => {
    const known = kept.get(position);
    if (known !== undefined) return known;
    const found = sourceOf(position, maps);
    if (kept.size < MAX_KEPT) kept.set(position, found);
    return found;
  });
}

function sourceOf(position: string, maps: Map<string, SourceMap | undefined>): string {
  const [column = '', line = ''] = position.split(':').reverse();
  const file = position.slice(0, -`:${line}:${column}`.length);
  if (!maps.has(file)) maps.set(file, readMap(file));
  const entry = maps.get(file)?.findEntry(Number(line) - 1, Number(column) - 1);
  // Code of packages has no source position.
  if (!entry || !('originalSource' in entry) || !entry.originalSource) return position;
  return `${new URL(entry.originalSource, file).href}:${entry.originalLine + 1}:${entry.originalColumn + 1}`;
}

function readMap(file: string): SourceMap | undefined {
  try {
    return new SourceMap(JSON.parse(readFileSync(`${fileURLToPath(file)}.map`, 'utf8')) as SourceMapPayload);
  } catch {
    return undefined;
  }
}
