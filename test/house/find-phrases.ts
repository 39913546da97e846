import ts from 'typescript-api';

/** A text that people read, with the line on which it starts. */
export interface ReadText {
  kind: 'comment' | 'string' | 'title' | 'page' | 'identifier';
  line: number;
  text: string;
}

interface PhraseRule {
  phrase: RegExp;
  /** What to write instead. */
  write: string;
  kinds: readonly ReadText['kind'][];
  /** A text that also matches this is accepted. */
  unless?: RegExp;
}

const PROSE = ['comment', 'string', 'title', 'page'] as const;

const RULES: readonly PhraseRule[] = [
  { phrase: /\bunless\s+told\b/i, write: '"Defaults to …"', kinds: PROSE },
  { phrase: /\bwho(?:m|so)?ever\b/i, write: 'the actor: the operator, the caller, the worker', kinds: PROSE },
  { phrase: /\banew\b/i, write: '"again"', kinds: PROSE },
  { phrase: /\bwho\s+it\s+is\s+that\b/i, write: 'the actor', kinds: PROSE },
  { phrase: /\bas\s+(?:\w+\s+)?as\s+it\s+is\s+told\s+to\b/i, write: 'the setting that decides it', kinds: PROSE },
  { phrase: /\bnobody[’']s\s+business\b/i, write: '"ignored" or "unowned"', kinds: PROSE },
  {
    phrase: /^(?:So (?:many|much|long|often|few|late|far)|Of (?:whom|which|what)|Nobody)\b/m,
    write: 'a noun: "Maximum messages per minute."',
    kinds: ['comment'],
  },
  {
    phrase: /\b(?:section|step|chapter)\s+\d/i,
    write: 'a name inside the repository, or the standard with its number',
    kinds: ['comment'],
    unless: /\b(?:RFC|OpenID|CAS)\b|\bprotocol\s+\d/,
  },
];

/** Prefixes of constants that are replaced by standard ones. Add a prefix here when its last name is gone. */
export const REPLACED_PREFIXES: readonly string[] = ['MOST_', 'LONGEST_', 'SHORTEST_', 'LEAST_', 'FEWEST_', 'USUAL_'];

/** Whether a program may contain a phrase. Saves parsing the others: parsing all takes five times as long. */
export function mayContainPhrase(source: string, replacedPrefixes = REPLACED_PREFIXES): boolean {
  return (
    CANDIDATES.some((candidate) => candidate.test(source)) || replacedPrefixes.some((prefix) => source.includes(prefix))
  );
}

// Comment marks can stand before the first word and between two words.
const CANDIDATES = RULES.map(({ phrase: { source, flags } }) => {
  const marked = source.replace('^', String.raw`(?:^|[/*])[ \t]*`).replaceAll(String.raw`\s+`, String.raw`[\s*/]+`);
  return new RegExp(marked, flags);
});

/** @returns one sentence for each phrase that has a plain replacement */
export function findPhrases(texts: readonly ReadText[], replacedPrefixes = REPLACED_PREFIXES): string[] {
  return texts.flatMap(({ kind, line, text }) => {
    if (kind === 'identifier')
      return replacedPrefixes
        .filter((prefix) => text.startsWith(prefix))
        .map(() => `${line}: "${text}": write MAX_… or DEFAULT_…`);
    return RULES.filter(
      ({ kinds, phrase, unless }) => kinds.includes(kind) && phrase.test(text) && !unless?.test(text),
    ).map(({ phrase, write }) => {
      const found = phrase.exec(text);
      const before = text.slice(0, found?.index ?? 0).split('\n').length - 1;
      return `${line + before}: "${(found?.[0] ?? '').replace(/\s+/g, ' ')}": write ${write}`;
    });
  });
}

/** The comments, strings and upper-case constants of a program; of a test only the comments and the titles. */
export function textsOfProgram(fileName: string, source: string): ReadText[] {
  const isTest = /(?:^|\/)test\//.test(fileName);
  const file = ts.createSourceFile(fileName, source, ts.ScriptTarget.Latest, true);
  const lineOf = (position: number) => file.getLineAndCharacterOfPosition(position).line + 1;
  const comments = new Map<number, ReadText>();
  const texts: ReadText[] = [];
  const keepComments = (ranges: readonly ts.CommentRange[] = []) => {
    for (const { pos, end } of ranges)
      if (!comments.has(pos))
        comments.set(pos, { kind: 'comment', line: lineOf(pos), text: plainComment(source.slice(pos, end)) });
  };
  const visit = (node: ts.Node): void => {
    keepComments(ts.getLeadingCommentRanges(source, node.pos));
    keepComments(ts.getTrailingCommentRanges(source, node.end));
    const worded = isTest ? titleOf(node) : node;
    const text = worded && stringOf(worded);
    if (text?.includes(' '))
      texts.push({ kind: isTest ? 'title' : 'string', line: lineOf(node.getStart(file)), text: withoutCode(text) });
    if (ts.isIdentifier(node) && /^[A-Z\d]+_[A-Z\d_]+$/.test(node.text))
      texts.push({ kind: 'identifier', line: lineOf(node.getStart(file)), text: node.text });
    ts.forEachChild(node, visit, (nodes) => {
      for (const child of nodes) visit(child);
      // Comments between the last element and the closing bracket.
      keepComments(ts.getLeadingCommentRanges(source, nodes.end));
      return undefined;
    });
  };
  visit(file);
  return [...comments.values(), ...texts].sort((one, other) => one.line - other.line);
}

/** The lines of a page or a configuration file. */
export function textsOfPage(source: string): ReadText[] {
  return source.split('\n').map((text, index) => ({ kind: 'page', line: index + 1, text: withoutCode(text) }));
}

function stringOf(node: ts.Node): string | undefined {
  if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node)) return node.text;
  if (ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node) || ts.isJsxText(node)) return node.text;
  return undefined;
}

/** The first argument of `test(…)`, `describe.each(…)(…)` and the like. */
function titleOf(node: ts.Node): ts.Node | undefined {
  if (!ts.isCallExpression(node)) return undefined;
  let callee: ts.Node = node.expression;
  while (ts.isCallExpression(callee) || ts.isPropertyAccessExpression(callee) || ts.isTaggedTemplateExpression(callee))
    callee = ts.isTaggedTemplateExpression(callee) ? callee.tag : callee.expression;
  return ts.isIdentifier(callee) && ['test', 'it', 'describe'].includes(callee.text) ? node.arguments[0] : undefined;
}

/** Without comment marks and code; the lines stay. */
function plainComment(comment: string): string {
  const text = comment.startsWith('//') ? comment.slice(2) : comment.slice(2, -2);
  return withoutCode(text.replace(/^[ \t]*\*+[ \t]?/gm, '').replace(/^[ \t]+/gm, ''));
}

function withoutCode(text: string): string {
  return text.replace(/`[^`\n]*`/g, '``');
}
