import { readdirSync, readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { dirname, join, relative, sep } from 'node:path';
import { findImports, type FoundImport } from './find-imports.ts';
import { OPEN_FILES, PACKAGE_ROOMS, ROOM_RULES, TYPES_FOR_ALL } from './room-rules.ts';

/** Every TypeScript file under a folder, by its path from there. */
export function listSources(root: string): string[] {
  const all = readdirSync(root, { recursive: true, encoding: 'utf8' });
  return all.filter((path) => /\.(ts|tsx|mts|cts|js|mjs|cjs)$/.test(path)).toSorted();
}

/** All breaches of the room rules under a source root, one sentence each. */
export function judgeImports(root: string): string[] {
  return listSources(root).flatMap((path) => {
    const from = roomOf(path);
    if (from !== undefined && !(from in ROOM_RULES)) return [`${path}: the room ${from} has no row in room-rules.ts`];
    return findImports(path, readFileSync(join(root, path), 'utf8')).flatMap((found) => {
      const complaint = judge(path, from, found);
      return complaint === undefined ? [] : [`${path}:${found.line}: ${complaint}`];
    });
  });
}

/** The first folder of a path from the source root; undefined for the files that put the rooms together. */
function roomOf(path: string): string | undefined {
  const parts = path.split(sep);
  return parts.length > 1 ? parts[0] : undefined;
}

function judge(path: string, from: string | undefined, found: FoundImport): string | undefined {
  if (found.specifier === undefined) return 'imports something that is computed; name the file';
  return found.specifier.startsWith('.') ? judgeRoom(path, from, found) : judgePackage(from, found.specifier);
}

function judgeRoom(
  path: string,
  from: string | undefined,
  { specifier = '', isTypeOnly }: FoundImport,
): string | undefined {
  const target = relative('.', join(dirname(path), specifier));
  if (target.startsWith('..')) return `reaches out of src/ (${specifier})`;
  const to = roomOf(target);
  if (from === undefined || to === from) return undefined;
  if (to === undefined) return `${from} may not import ${target}, which puts the rooms together`;
  if (ROOM_RULES[from]?.includes(to) === true || (to === TYPES_FOR_ALL && isTypeOnly)) return undefined;
  if (OPEN_FILES[target.split(sep).join('/')]?.test(path) === true) return undefined;
  return `${from} may not import ${to}`;
}

function judgePackage(from: string | undefined, specifier: string): string | undefined {
  if (specifier.startsWith('/') || specifier.startsWith('file:')) return 'imports by an absolute path';
  if (builtinModules.includes(specifier)) return `imports ${specifier} without node: before it`;
  const packageName = specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
  const rooms = PACKAGE_ROOMS[packageName];
  return rooms && !rooms.includes(from ?? '') ? `only ${rooms.join(' and ')} may import ${packageName}` : undefined;
}
