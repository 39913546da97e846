import type { Response } from 'got';
import { asFields, resolve, type Fields, type PlacedOperation, operationsOf } from './openapi-document.ts';
import type { Reading, SchemaJudge } from './schema-judge.ts';

/** Checks real answers against the document, and records which documented answers occurred. */
export class AnswerJudge {
  readonly #root: Fields;
  readonly #schemas: SchemaJudge;
  readonly #templates: { path: string; pattern: RegExp }[];
  /** For example `createToken 400`. */
  readonly seen = new Set<string>();
  answers = 0;
  events = 0;

  constructor(root: Fields, schemas: SchemaJudge) {
    this.#root = root;
    this.#schemas = schemas;
    this.#templates = Object.keys(asFields(root['paths']))
      .sort((left, right) => left.split('{').length - right.split('{').length)
      .map((path) => ({ path, pattern: patternOf(path) }));
  }

  /** Parts of an answer that the document does not describe, one line each. */
  faults(answer: Response<string>, reading: Reading = 'closed'): string[] {
    this.answers += 1;
    const { method } = answer.request.options;
    const { pathname } = new URL(String(answer.requestUrl));
    const { name, responses } = this.#promised(method.toLowerCase(), pathname);
    const response = responses[answer.statusCode];
    const what = `${method} ${pathname} ${answer.statusCode}`;
    if (response === undefined) return [`${what} is not in the document`];
    this.seen.add(`${name} ${answer.statusCode}`);
    const { headers, content } = resolve(this.#root, response);
    const faults = [
      ...this.#headerFaults(asFields(headers), answer),
      ...(method === 'HEAD' ? [] : this.#bodyFaults(asFields(content), answer, reading)),
    ];
    return faults.map((fault) => `${what}: ${fault}`);
  }

  /** The responses of the operation, or of other methods of the path, or of unknown paths. */
  #promised(method: string, pathname: string): { name: string; responses: Fields } {
    const path = this.#templates.find(({ pattern }) => pattern.test(pathname))?.path;
    if (path === undefined) {
      const others = this.#root['x-other-addresses'] as { under: string; responses: Fields }[];
      const other = others.find(
        ({ under }) => pathname === under || `${pathname}/`.startsWith(`${under}/`) || under === '/',
      );
      return { name: `elsewhere under ${other?.under ?? ''}`, responses: other?.responses ?? {} };
    }
    const item = asFields(asFields(this.#root['paths'])[path]);
    const asked = item[method === 'head' ? 'get' : method];
    const others = item['x-other-methods'];
    if (asked === undefined && others !== undefined) return { name: `others ${path}`, responses: asFields(others) };
    const { operationId, responses } = (asked ?? item['get']) as PlacedOperation['operation'];
    return { name: operationId, responses };
  }

  #headerFaults(headers: Fields, answer: Response<string>): string[] {
    return Object.entries(headers).flatMap(([name, header]) => {
      const { required, schema } = resolve(this.#root, header);
      const value = answer.headers[name.toLowerCase()];
      if (value === undefined) return required === true ? [`${name} is missing`] : [];
      const text = Array.isArray(value) ? value.join('\n') : value;
      return this.#schemas.faults(schema, text).map((fault) => `${name}: ${fault}`);
    });
  }

  #bodyFaults(content: Fields, answer: Response<string>, reading: Reading): string[] {
    const type = (answer.headers['content-type'] ?? '').split(';', 1)[0] ?? '';
    const media = content[type];
    if (media === undefined) return [`the content type ${type || 'of nothing'} is not in the document`];
    const { schema, 'x-event-schema': eventSchema } = asFields(media);
    if (type === 'application/json') return this.#schemas.faults(schema, JSON.parse(answer.body), reading);
    const faults = this.#schemas.faults(schema, answer.body);
    if (eventSchema === undefined) return faults;
    const events = answer.body.split('\n\n').filter((event) => event !== '' && event !== 'data: [DONE]');
    this.events += events.length;
    return [
      ...faults,
      ...events.flatMap((event) =>
        this.#schemas.faults(eventSchema, JSON.parse(event.replace(/^data: /, '')), reading),
      ),
    ];
  }

  /** Documented answers of operations that never occurred. */
  unseen(): string[] {
    return operationsOf(this.#root)
      .flatMap(({ operation }) =>
        Object.keys(operation.responses).map((status) => `${operation.operationId} ${status}`),
      )
      .filter((answer) => !this.seen.has(answer));
  }
}

function patternOf(path: string): RegExp {
  const literal = path.split(/\{\w+\}/).map((part) => part.replaceAll(/[.*+?^$()|[\]\\]/g, String.raw`\$&`));
  return new RegExp(`^${literal.join('[^/]+')}$`);
}
