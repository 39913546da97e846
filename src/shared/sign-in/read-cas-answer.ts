import { SaxesParser, type SaxesTagNS } from 'saxes';
import type { Claims } from './person-from-claims.ts';
import { asObject, parseJson } from '../parse-json.ts';

/** Namespace of CAS responses with any prefix (CAS protocol 3.0.3, appendix A). Some servers declare no namespace. */
const CAS = 'http://www.yale.edu/tp/cas';
const MAX_DEPTH = 8;
/** Children of a success that the protocol itself defines. All other children are attributes of the person. */
const PROTOCOL_PARTS = new Set(['user', 'attributes', 'proxyGrantingTicket', 'proxies']);
/** Elements that only group attributes. */
const GROUPS = new Set(['attributes', 'userAttributes']);

export type CasResponse = { claims: Claims } | { failure: string };

interface Element {
  name: string;
  text: string;
  children: Element[];
  attributes: Readonly<Record<string, string>>;
}

type Attribute = readonly [name: string, value: string];

/**
 * Parses the response of a validation path: the user as `sub` with the attributes beside it, and repeated attributes as a
 * list. Accepts the XML styles of the public servers, JSON, and the two lines of protocol 1.
 * @returns undefined if the text is not a CAS response: not well-formed, with a document type (which may define entities),
 * or of another shape
 */
export function parseCasResponse(answer: string): CasResponse | undefined {
  const text = answer.replace(/^[\s\uFEFF]+/, '');
  if (text.startsWith('<')) return readXml(text);
  return text.startsWith('{') ? readJson(text) : readLines(text);
}

function readXml(xml: string): CasResponse | undefined {
  const root = parse(xml);
  const [outcome, ...more] = root?.name === 'serviceResponse' ? root.children : [];
  if (!outcome || more.length > 0) return undefined;
  if (outcome.name === 'authenticationFailure') return { failure: outcome.attributes['code'] ?? '' };
  const users = outcome.children.filter(({ name }) => name === 'user');
  const sub = users[0]?.text.trim();
  if (outcome.name !== 'authenticationSuccess' || users.length !== 1 || !sub) return undefined;
  const { children } = outcome;
  const grouped = children.filter(({ name }) => name === 'attributes').flatMap(attributesIn);
  const beside = children.filter(({ name }) => name !== '' && !PROTOCOL_PARTS.has(name)).flatMap(attributesOf);
  return { claims: { ...collect([...grouped, ...beside]), sub } };
}

function attributesIn({ children }: Element): Attribute[] {
  return children.filter(({ name }) => name !== '').flatMap(attributesOf);
}

/**
 * The attributes in an element: `<cn>v</cn>`, `<cn><value>v</value></cn>`, `<attribute name="cn" value="v"/>`, `<attribute
 * name="cn">v</attribute>`, `<attribute><name>cn</name><value>v</value></attribute>`, or a group of these.
 */
function attributesOf(element: Element): Attribute[] {
  const { name, text, children, attributes } = element;
  if (GROUPS.has(name)) return attributesIn(element);
  const named = name === 'attribute' ? (attributes['name'] ?? childText(element, 'name')) : undefined;
  if (named !== undefined && attributes['value'] !== undefined) return [[named, attributes['value']]];
  const values = children.filter((child) => named === undefined || child.name !== 'name').map((child) => child.text);
  return (values.length > 0 ? values : [text]).map((value) => [named ?? name, value]);
}

function childText({ children }: Element, wanted: string): string | undefined {
  return children.find(({ name }) => name === wanted)?.text.trim();
}

function readJson(text: string): CasResponse | undefined {
  const response = asObject(asObject(parseJson(text))?.['serviceResponse']);
  const success = asObject(response?.['authenticationSuccess']);
  const failure = asObject(response?.['authenticationFailure']);
  if (failure) return success ? undefined : { failure: typeof failure['code'] === 'string' ? failure['code'] : '' };
  const user = success?.['user'];
  const sub = typeof user === 'string' || Number.isSafeInteger(user) ? String(user).trim() : '';
  if (!success || sub === '') return undefined;
  const beside = Object.entries(success).filter(([name]) => !PROTOCOL_PARTS.has(name));
  const grouped = Object.entries(asObject(success['attributes']) ?? {});
  return { claims: { ...Object.fromEntries([...beside, ...grouped]), sub } };
}

/** CAS protocol 1 (section 2.4): `yes` and the user, or `no`. */
function readLines(text: string): CasResponse | undefined {
  if (/^no\s*$/.test(text)) return { failure: 'INVALID_TICKET' };
  const sub = /^yes\r?\n([^\r\n]+)$/.exec(text.trimEnd())?.[1]?.trim();
  return sub ? { claims: { sub } } : undefined;
}

function collect(attributes: readonly Attribute[]): Record<string, string[]> {
  const byName = new Map<string, string[]>();
  for (const [name, value] of attributes) {
    const values = byName.get(name);
    if (values) values.push(value);
    else byName.set(name, [value]);
  }
  return Object.fromEntries(byName);
}

/** Parses XML into a tree of elements; undefined for a document that a strict parser rejects. */
function parse(xml: string): Element | undefined {
  const top: Element = { name: '', text: '', children: [], attributes: {} };
  const open: Element[] = [top];
  // An undeclared prefix `cas` means the CAS namespace.
  const parser = new SaxesParser({ xmlns: true, additionalNamespaces: { cas: CAS } });
  const refuse = (): never => {
    throw new SyntaxError('The answer is refused');
  };
  parser.on('error', refuse);
  parser.on('doctype', refuse);
  parser.on('opentag', (tag) => {
    if (open.length > MAX_DEPTH) refuse();
    // Elements of a foreign namespace have no meaning here but keep their position in the tree.
    const element: Element = {
      name: tag.uri === CAS || tag.uri === '' ? tag.local : '',
      text: '',
      children: [],
      attributes: plainAttributes(tag),
    };
    open.at(-1)?.children.push(element);
    open.push(element);
  });
  parser.on('closetag', () => void open.pop());
  // A comment splits text into several parts, which are concatenated. Otherwise a comment could cut a name short.
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
