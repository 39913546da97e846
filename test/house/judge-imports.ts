import { readdirSync, readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { dirname, join, relative, sep } from 'node:path';
import { findImports, type FoundImport } from './find-imports.ts';
import { OPEN_FILES, PACKAGE_MODULES, MODULE_RULES, TYPES_FOR_ALL } from './module-rules.ts';

/** Every TypeScript file below a folder, as a relative path. */
export function listSources(root: string): string[] {
  const all = readdirSync(root, { recursive: true, encoding: 'utf8' });
  return all.filter((path) => /\.(ts|tsx|mts|cts|js|mjs|cjs)$/.test(path)).toSorted();
}

/** All violations of the module rules below a source root, one sentence each. */
export function judgeImports(root: string): string[] {
  return listSources(root).flatMap((path) => {
    const from = moduleOf(path);
    if (from !== undefined && !(from in MODULE_RULES))
      return [`${path}: the module ${from} has no row in module-rules.ts`];
    return findImports(path, readFileSync(join(root, path), 'utf8')).flatMap((found) => {
      const complaint = judge(path, from, found);
      return complaint === undefined ? [] : [`${path}:${found.line}: ${complaint}`];
    });
  });
}

/** The module of a path below the source root; undefined for the entry file, which combines modules. */
export function moduleOf(path: string): string | undefined {
  const [program, folder, file] = path.split(sep);
  if (folder === undefined) return undefined;
  return program === 'bot' && file !== undefined ? `bot/${folder}` : program;
}

function judge(path: string, from: string | undefined, found: FoundImport): string | undefined {
  if (found.specifier === undefined) return 'imports a computed path; name the file';
  return found.specifier.startsWith('.') ? judgeModule(path, from, found) : judgePackage(from, found.specifier);
}

function judgeModule(
  path: string,
  from: string | undefined,
  { specifier = '', isTypeOnly }: FoundImport,
): string | undefined {
  const target = relative('.', join(dirname(path), specifier));
  if (target.startsWith('..')) return `reaches out of src/ (${specifier})`;
  const to = moduleOf(target);
  if (from === undefined || to === from) return undefined;
  if (to === undefined) return `${from} may not import ${target}, which puts modules together`;
  if (MODULE_RULES[from]?.includes(to) === true || (to === TYPES_FOR_ALL && isTypeOnly && /^(bot|cli)/.test(from)))
    return undefined;
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
  const modules = PACKAGE_MODULES[packageName];
  return modules && !modules.includes(from ?? '')
    ? `only ${modules.join(' and ')} may import ${packageName}`
    : undefined;
}
