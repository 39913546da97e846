import { z } from 'zod';

/** Headers of the HTTP client and of this program, which an entry must not change. All begin or equal these, in lower case. */
const OWN_HEADERS =
  /^(?:accept|authorization|connection|content|cookie|expect|host|http2-settings|keep-alive|proxy|sec|te|trailer|transfer|upgrade|x-request-id)(?:$|-)/;
const NAME = /^[a-z0-9](?:[a-z0-9_-]{0,98}[a-z0-9])?$/;
const VALUE = /^[\x21-\x7e](?:[\x20-\x7e]{0,998}[\x21-\x7e])?$/;
const MAX_HEADERS = 20;
/** Stands for MODELS_SECRET in a value. */
const SECRET = '{secret}';

/** Additional request headers of one engine: names in lower case, with their values. */
export type EngineHeaders = Readonly<Record<string, string>>;

/** The headers of an entry as written. The faults name a header and never a value. */
export const headersSchema = z
  .record(z.string(), z.string().regex(VALUE, 'must be printable ASCII text of at most 1,000 characters'))
  .superRefine((written, context) => {
    const names = Object.keys(written).map((name) => name.toLowerCase());
    const report = (message: string) => context.addIssue({ code: 'custom', message });
    if (names.length > MAX_HEADERS) report(`has more than ${MAX_HEADERS} headers`);
    for (const [index, name] of names.entries()) {
      if (!NAME.test(name)) report(`header ${index + 1} has an invalid name`);
      else if (OWN_HEADERS.test(name)) report(`must not set ${name}`);
      else if (names.indexOf(name) < index) report(`sets ${name} twice`);
    }
  })
  .transform((written): EngineHeaders => lowerCased(written));

function lowerCased(written: EngineHeaders): EngineHeaders {
  return Object.fromEntries(Object.entries(written).map(([name, value]) => [name.toLowerCase(), value]));
}

/** Whether a value needs MODELS_SECRET. */
export function needsSecret(headers: EngineHeaders): boolean {
  return Object.values(headers).some((value) => value.includes(SECRET));
}

/** Puts the value of MODELS_SECRET into the headers. */
export function fillSecret(headers: EngineHeaders, secret = ''): EngineHeaders {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, value.replaceAll(SECRET, () => secret)]),
  );
}
