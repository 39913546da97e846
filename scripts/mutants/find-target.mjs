// Finds the places that the rows of test/mutants/mutants.json name: declarations by name, Lua statements by marker comment.
// A file that moves, or a declaration that moves to another file, needs no change of a row.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript-api';
import { mutateDeclaration, mutateGuard } from './mutation.mjs';

const GUARD = 'guard: ';

/** Reads all sources below a folder once. */
export function readSources(folder = 'src') {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.(?:ts|tsx|lua)$/.test(path))
    .map((path) => join(folder, path))
    .map((file) => ({ file, text: readFileSync(file, 'utf8') }));
}

/**
 * @param sources of `readSources`
 * @param target `name`, `name.member`, either with ` (beside NAME)` if several files declare the name, or `guard: NAME`
 * @returns the file with the target, and its text with the mutation
 * @throws Error if the target is missing or ambiguous, or the mutation does not fit
 */
export function mutate(sources, { rule, target, mutation }) {
  try {
    return target.startsWith(GUARD)
      ? mutateMarked(sources, `${rule}/${target.slice(GUARD.length)}`, mutation)
      : mutateNamed(sources, target, mutation);
  } catch (error) {
    throw new Error(`${rule}: ${target}: ${mutation}: ${error.message}`);
  }
}

/** The names of all markers in the Lua scripts: `-- guard: RULE/NAME`. */
export function guardsOf(sources) {
  return sources.flatMap(({ file, text }) =>
    file.endsWith('.lua') ? [...text.matchAll(/^\s*-- guard: (\S+)$/gm)].map(([, name]) => name) : [],
  );
}

function mutateMarked(sources, name, mutation) {
  const lines = sources
    .filter(({ file, text }) => file.endsWith('.lua') && text.includes(`-- guard: ${name}\n`))
    .map(({ file, text }) => ({ file, lines: text.split('\n') }));
  const { file, lines: all } = single(lines, `marker -- guard: ${name}`);
  const markers = [...all.keys()].filter((at) => all[at].trim() === `-- guard: ${name}`);
  const at = single(markers, `marker -- guard: ${name}`) + 1;
  const changed = mutateGuard(all[at], mutation);
  if (changed === all[at]) throw new Error('changes nothing');
  return { file, text: all.with(at, changed).join('\n') };
}

function mutateNamed(sources, target, mutation) {
  const [, name, member, neighbour] = /^(\w+)(?:\.(\w+))?(?: \(beside (\w+)\))?$/.exec(target) ?? [];
  if (name === undefined) throw new Error('no target');
  const code = sources.filter(({ file, text }) => !file.endsWith('.lua') && (!neighbour || declares(text, neighbour)));
  // An exported declaration wins over others of that name.
  const exported = code.filter(({ text }) => declares(text, name, 'export '));
  const found = exported.length > 0 ? exported : code.filter(({ text }) => declares(text, name));
  const { file, text } = single(found, `declaration of ${name}`);
  const parsed = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const top = single(topLevel(parsed, name), `declaration of ${name}`);
  const node = member === undefined ? top : single(outermost(top, member), `member ${member}`);
  const changed = mutateDeclaration(node, text, mutation);
  if (changed === text) throw new Error('changes nothing');
  return { file, text: changed };
}

const declares = (text, name, prefix = '(?:export )?') =>
  text.includes(name) &&
  new RegExp(`(?<![^\\n])${prefix}(?:async )?(?:function\\*?|class|const|let) ${name}\\b`).test(text);

function topLevel(parsed, name) {
  return parsed.statements
    .flatMap((statement) => (ts.isVariableStatement(statement) ? statement.declarationList.declarations : [statement]))
    .filter((node) => node.name?.text === name && (node.body !== undefined || !ts.isFunctionDeclaration(node)))
    .filter((node) => !ts.isInterfaceDeclaration(node) && !ts.isTypeAliasDeclaration(node));
}

/** The named methods, properties, functions and constants within a declaration that are nested least. */
function outermost(top, name) {
  let level = [top];
  while (level.length > 0) {
    level = level.flatMap((node) => {
      const children = [];
      ts.forEachChild(node, (child) => void children.push(child));
      return children;
    });
    const found = level.filter((node) => isMember(node) && nameOf(node) === name);
    if (found.length > 0) return found;
  }
  return [];
}

const isMember = (node) =>
  ts.isFunctionLike(node) ||
  ts.isVariableDeclaration(node) ||
  ts.isPropertyAssignment(node) ||
  ts.isPropertyDeclaration(node);

const nameOf = ({ name }) => (name && ts.isPrivateIdentifier(name) ? name.text.slice(1) : name?.text);

function single(found, what) {
  if (found.length !== 1) throw new Error(`${found.length === 0 ? 'no' : found.length} ${what}`);
  return found[0];
}
