import { SaxesParser, type SaxesTagNS } from 'saxes';
import type { Claims } from './person-from-claims.ts';

/** The namespace of CAS's answers, whatever prefix they use (CAS protocol 3.0.3, appendix A). */
const CAS = 'http://www.yale.edu/tp/cas';
const MAX_DEPTH = 8;

export type CasAnswer = { claims: Claims } | { failure: string };

interface Element {
  name: string;
  text: string;
  children: Element[];
  attributes: Readonly<Record<string, string>>;
}

/**
 * Reads the answer of `serviceValidate`: the user as `sub`, with the attributes beside it, several of a name as a list.
 * @returns undefined when the text is no answer of CAS: not well-formed, with a document type (entities could be hidden
 * there), or of another shape
 */
export function readCasAnswer(xml: string): CasAnswer | undefined {
  const root = parse(xml);
  const [outcome, ...more] = root?.name === 'serviceResponse' ? root.children : [];
  if (!outcome || more.length > 0) return undefined;
  if (outcome.name === 'authenticationFailure') return { failure: outcome.attributes['code'] ?? '' };
  const users = outcome.children.filter(({ name }) => name === 'user');
  const sub = users[0]?.text.trim();
  if (outcome.name !== 'authenticationSuccess' || users.length !== 1 || !sub) return undefined;
  const attributes = outcome.children
    .filter(({ name }) => name === 'attributes')
    .flatMap(({ children }) => children.filter(({ name }) => name !== ''));
  return { claims: { ...collect(attributes), sub } };
}

function collect(attributes: readonly Element[]): Record<string, string[]> {
  const names = new Set(attributes.map(({ name }) => name));
  const valuesOf = (wanted: string) => attributes.filter(({ name }) => name === wanted).map(({ text }) => text);
  return Object.fromEntries([...names].map((name) => [name, valuesOf(name)]));
}

/** The elements as a tree; undefined for what a careful reader refuses. */
function parse(xml: string): Element | undefined {
  const top: Element = { name: '', text: '', children: [], attributes: {} };
  const open: Element[] = [top];
  const parser = new SaxesParser({ xmlns: true });
  const refuse = (): never => {
    throw new SyntaxError('The answer is refused');
  };
  parser.on('error', refuse);
  parser.on('doctype', refuse);
  parser.on('opentag', (tag) => {
    if (open.length > MAX_DEPTH) refuse();
    // Another namespace's elements mean nothing here, but stand where they stand.
    const element: Element = {
      name: tag.uri === CAS ? tag.local : '',
      text: '',
      children: [],
      attributes: plainAttributes(tag),
    };
    open.at(-1)?.children.push(element);
    open.push(element);
  });
  parser.on('closetag', () => void open.pop());
  // Text round a comment comes in pieces, all of which count: else a comment could cut a name short.
  const append = (text: string) => {
    const element = open.at(-1);
    if (element) element.text += text;
  };
  parser.on('text', append);
  parser.on('cdata', append);
  try {
    parser.write(xml).close();
  } catch {
    return undefined;
  }
  return top.children[0];
}

function plainAttributes(tag: SaxesTagNS): Record<string, string> {
  return Object.fromEntries(
    Object.values(tag.attributes)
      .filter(({ uri }) => uri === '')
      .map(({ local, value }) => [local, value]),
  );
}
