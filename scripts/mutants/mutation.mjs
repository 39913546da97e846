// The mutations that a row of test/mutants/mutants.json can name. Each finds its place by an identifier or a token, so that
// formatting, moving and ordinary edits leave the row alone. A mutation that fits no place, or several, is an error.
import ts from 'typescript-api';

/**
 * Applies a mutation to a declaration.
 * @param node the declaration
 * @param source text of its file
 * @param mutation `returns: EXPR`, `is: EXPR`, `without: WORD`, `always: WORD`, `unwrap: WORD` or `swap: TOKEN => TEXT`; a
 *   `WORD#2` or `TOKEN#2` means the second of several places
 * @returns the text of the file with the change
 */
export function mutateDeclaration(node, source, mutation) {
  const { kind, argument } = readMutation(mutation);
  const change = KINDS[kind];
  if (change === undefined) throw new Error(`no such mutation: ${kind}`);
  return splice(source, change(node, argument));
}

/**
 * Applies a mutation to the Lua statement below a marker comment.
 * @param mutation `without` (no condition holds, no statement runs), `without: WORD` (drops the operand with that word),
 *   `always` (the condition holds) or `swap: TOKEN => TEXT`
 */
export function mutateGuard(line, mutation) {
  const { kind, argument } = readMutation(mutation);
  const condition = /^(.*?\b(?:if|elseif|while) )(.*)( (?:then|do)\b.*)$/.exec(line);
  if (kind === 'swap') return swapText(line, argument);
  if (kind === 'without' && argument === '') return condition ? `${condition[1]}false${condition[3]}` : '';
  if (kind === 'always' && condition) return `${condition[1]}true${condition[3]}`;
  if (kind === 'without') return dropLuaOperand(line, argument);
  throw new Error(`no such mutation of a Lua guard: ${mutation}`);
}

function readMutation(mutation) {
  const [, kind, argument = ''] = /^([a-z]+)(?:: (.+))?$/.exec(mutation) ?? [];
  if (kind === undefined) throw new Error(`not a mutation: ${mutation}`);
  return { kind, argument };
}

/** Each kind returns the range to replace and its new text. */
const KINDS = {
  /** The function returns a fixed value. */
  returns(node, expression) {
    const { body } = functionOf(node);
    if (body === undefined) throw new Error('has no body');
    return ts.isBlock(body) ? range(body, `{ return ${expression}; }`) : range(body, `(${expression})`);
  },
  /** The constant, property or parameter default has another value. */
  is(node, expression) {
    if (node.initializer === undefined) throw new Error('has no value');
    return range(node.initializer, expression);
  },
  /** The operand, check, statement, property or element that mentions the word is dropped. */
  without: (node, word) => onlyOne(places(node, word, dropped), word),
  /** The condition, or operand of one, that mentions the word holds. */
  always: (node, word) => onlyOne(places(node, word, held), word),
  /** The call of the named function is replaced by its first argument, that of a method by its object. */
  unwrap: (node, word) => onlyOne(places(node, word, unwrapped), word),
  /** One token is replaced. */
  swap(node, argument) {
    const [token, text] = readSwap(argument);
    const [bare, nth] = readNth(token);
    const found = tokensOf(node).filter((one) => one.getText() === bare);
    return onlyOne(
      found.map((one) => range(one, text)),
      nth === undefined ? bare : `${bare}#${nth}`,
    );
  },
};

/** The function that a declaration is or holds. */
function functionOf(node) {
  if (ts.isFunctionLike(node)) return node;
  const value = node.initializer;
  if (value !== undefined && ts.isFunctionLike(value)) return value;
  throw new Error('is no function');
}

function places(node, argument, changeAt) {
  const [word] = readNth(argument);
  const tokens = tokensOf(node).filter((token) => wordOf(token) === word && token !== node.name);
  const changes = tokens.map((token) => changeAt(token, node)).filter((change) => change !== undefined);
  const distinct = new Map(changes.map((change) => [`${change.start}-${change.end}`, change]));
  return [...distinct.values()];
}

function onlyOne(changes, argument) {
  const [, nth] = readNth(argument);
  const chosen = nth === undefined ? changes[0] : changes[nth - 1];
  if (chosen === undefined) throw new Error(`no place for ${argument}`);
  if (nth === undefined && changes.length > 1) throw new Error(`${changes.length} places for ${argument}`);
  return chosen;
}

/** `word#2` is the second place of a word. */
function readNth(argument) {
  const [, word, nth] = /^(.+?)(?:#(\d+))?$/.exec(argument) ?? [];
  return nth !== undefined && word !== '' ? [word, Number(nth)] : [argument, undefined];
}

function readSwap(argument) {
  const at = argument.indexOf(' => ');
  if (at === -1) throw new Error('a swap is written `TOKEN => TEXT`');
  return [argument.slice(0, at), argument.slice(at + 4)];
}

function dropped(token, top) {
  for (let node = token; node !== top; node = node.parent) {
    const { parent } = node;
    if (isLogical(parent)) return range(parent, `(${(parent.left === node ? parent.right : parent.left).getText()})`);
    if (ts.isIfStatement(parent) && parent.expression === node)
      return range(parent, parent.elseStatement?.getText() ?? ';');
    if (isCondition(parent, node)) return range(node, 'false');
    if (ts.isExpressionStatement(node)) return range(node, ';');
    if (ts.isSpreadElement(node) || ts.isSpreadAssignment(node)) return withComma(node);
    if (ts.isPropertyAssignment(node) || ts.isShorthandPropertyAssignment(node)) return withComma(node);
    if (ts.isArrayLiteralExpression(parent)) return withComma(node);
    if (ts.isStatement(node) && !ts.isBlock(node)) return undefined;
  }
  return undefined;
}

function held(token, top) {
  for (let node = token; node !== top; node = node.parent) {
    const { parent } = node;
    const isIf = ts.isIfStatement(parent) && parent.expression === node;
    if (isLogical(parent) || isIf || isCondition(parent, node)) return range(node, 'true');
    if (ts.isStatement(node)) return undefined;
  }
  return undefined;
}

function unwrapped(token) {
  const access = ts.isPropertyAccessExpression(token.parent) && token.parent.name === token ? token.parent : undefined;
  const callee = access ?? token;
  const call = callee.parent;
  if (!ts.isCallExpression(call) || call.expression !== callee) return undefined;
  const kept = access?.expression ?? call.arguments[0];
  if (access && ts.isIdentifier(access.expression) && /^(?:this|[A-Z])/.test(access.expression.text))
    return range(call, call.arguments[0]?.getText() ?? 'undefined');
  return range(call, kept?.getText() ?? 'undefined');
}

const LOGICAL = new Set([
  ts.SyntaxKind.AmpersandAmpersandToken,
  ts.SyntaxKind.BarBarToken,
  ts.SyntaxKind.QuestionQuestionToken,
]);
const isLogical = (node) => ts.isBinaryExpression(node) && LOGICAL.has(node.operatorToken.kind);
const isCondition = (parent, node) =>
  (ts.isConditionalExpression(parent) && parent.condition === node) ||
  (ts.isWhileStatement(parent) && parent.expression === node);

/** The name of an identifier without `#`, or the text of a string. */
function wordOf(token) {
  if (ts.isIdentifier(token)) return token.text;
  if (ts.isPrivateIdentifier(token)) return token.text.slice(1);
  return ts.isStringLiteralLike(token) ? token.text : undefined;
}

/** The tokens of a declaration, in order. */
function tokensOf(node, found = []) {
  const children = node.getChildren();
  if (children.length === 0) found.push(node);
  for (const child of children) if (!ts.isJSDoc(child)) tokensOf(child, found);
  return found;
}

const range = (node, text) => ({ start: node.getStart(), end: node.getEnd(), text });

/** Removes an element together with the comma behind it. */
function withComma(node) {
  const { text } = node.getSourceFile();
  const [comma] = /^\s*,/.exec(text.slice(node.getEnd())) ?? [''];
  return { start: node.getStart(), end: node.getEnd() + comma.length, text: '' };
}

const splice = (source, { start, end, text }) => source.slice(0, start) + text + source.slice(end);

function swapText(line, argument) {
  const [token, text] = readSwap(argument);
  const [bare, nth] = readNth(token);
  const places = line.split(bare).length - 1;
  if (places === 0 || (nth === undefined && places > 1)) throw new Error(`${places} places for ${token}`);
  let seen = 0;
  return line.replaceAll(bare, () => ((seen += 1) === (nth ?? 1) ? text : bare));
}

/** Drops an operand of `and` or `or` outside parentheses. */
function dropLuaOperand(line, word) {
  const [, before, condition, after] =
    /^(.*?\b(?:if|elseif|while|return) |.*?[^=~<>]= )(.*?)( (?:then|do)\b.*|$)/.exec(line) ?? [];
  const operands = condition?.split(/ (and|or) (?![^()]*\))/) ?? [];
  const isWord = (text) => new RegExp(`(?<!\\w)${word.replaceAll(/\W/g, '\\$&')}(?!\\w)`).test(text);
  const at = operands.findIndex((text, index) => index % 2 === 0 && isWord(text));
  if (at === -1 || operands.length < 3) throw new Error(`no operand with ${word}`);
  operands.splice(Math.max(at - 1, 0), 2);
  return `${before}${operands.join(' ')}${after}`;
}
