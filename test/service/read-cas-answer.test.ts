import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { parseCasResponse } from '../../src/shared/sign-in/read-cas-answer.ts';
import { tries } from '../support/tries.ts';

const NS = 'http://www.yale.edu/tp/cas';

function answer(inner: string, prefix = 'cas'): string {
  const [open, close] = [`${prefix}:serviceResponse`, `${prefix}:authenticationSuccess`];
  return `<${open} xmlns:${prefix}="${NS}"><${close}>${inner}</${close}></${open}>`;
}

test('CAS protocol 3.0.3, appendix A: user and attributes are read with any namespace prefix', () => {
  const inner =
    '<c:user>li</c:user><c:attributes><c:cn>Li</c:cn><c:group>a</c:group><c:group>b</c:group></c:attributes>';
  expect(parseCasResponse(answer(inner, 'c'))).toEqual({ claims: { sub: 'li', cn: ['Li'], group: ['a', 'b'] } });
  const plain = `<serviceResponse xmlns="${NS}"><authenticationSuccess><user>li</user></authenticationSuccess></serviceResponse>`;
  expect(parseCasResponse(plain)).toEqual({ claims: { sub: 'li' } });
});

test('a comment, CDATA or character reference cannot cut or change a name', () => {
  const read = (user: string) => parseCasResponse(answer(`<cas:user>${user}</cas:user>`));
  expect(read('admin<!-- -->.li')).toEqual({ claims: { sub: 'admin.li' } });
  expect(read('<![CDATA[li&lt;]]>')).toEqual({ claims: { sub: 'li&lt;' } });
  expect(read('&#x6c;i')).toEqual({ claims: { sub: 'li' } });
});

test('an attribute called sub does not replace the user, and one called __proto__ has no effect', () => {
  const inner =
    '<cas:user>li</cas:user><cas:attributes><cas:sub>admin</cas:sub><cas:__proto__>x</cas:__proto__></cas:attributes>';
  const read = parseCasResponse(answer(inner));
  expect(read && 'claims' in read && read.claims['sub']).toBe('li');
  expect(({} as Record<string, unknown>)['0']).toBeUndefined();
});

test.each([
  ['two users', answer('<cas:user>a</cas:user><cas:user>b</cas:user>')],
  ['no user', answer('<cas:attributes/>')],
  ['an empty user', answer('<cas:user> </cas:user>')],
  ['a user of another namespace', answer('<x:user xmlns:x="urn:x">li</x:user>')],
  ['two outcomes', answer('<cas:user>a</cas:user></cas:authenticationSuccess><cas:authenticationSuccess>')],
  ['another namespace', answer('<cas:user>a</cas:user>').replace(NS, 'urn:other')],
  ['a document type', `<!DOCTYPE serviceResponse>${answer('<cas:user>a</cas:user>')}`],
  ['endlessly nested elements', answer(`<cas:user>a</cas:user>${'<cas:x>'.repeat(9_000)}${'</cas:x>'.repeat(9_000)}`)],
])('%s is refused as an answer', (_, xml) => expect(parseCasResponse(xml)).toBeUndefined());

const name = fc
  .string({ minLength: 1, maxLength: 30 })
  .filter((text) => /^[^\p{Cc}\uFFFE\uFFFF\p{Cs}]+$/u.test(text) && text.trim() !== '');

test('property: an attribute reads the same in every style', () => {
  fc.assert(
    fc.property(name, fc.stringMatching(/^[a-zA-Z][a-zA-Z0-9_]{0,12}$/), (value, key) => {
      fc.pre(!/^(user|attributes?|userAttributes|proxies|proxyGrantingTicket|name|value|sub)$/.test(key));
      const escaped = value.replace(/[&<>"\s]/g, (letter) => `&#${letter.charCodeAt(0)};`);
      const styles = [
        `<cas:attributes><cas:${key}>${escaped}</cas:${key}></cas:attributes>`,
        `<cas:${key}>${escaped}</cas:${key}>`,
        `<cas:attribute name="${key}" value="${escaped}"/>`,
        `<cas:attributes><cas:attribute name="${key}">${escaped}</cas:attribute></cas:attributes>`,
        `<cas:attribute><cas:name>${key}</cas:name><cas:value>${escaped}</cas:value></cas:attribute>`,
      ];
      for (const style of styles)
        expect(parseCasResponse(answer(`<cas:user>li</cas:user>${style}`))).toEqual({
          claims: { sub: 'li', [key]: [value] },
        });
      const json = { serviceResponse: { authenticationSuccess: { user: 'li', attributes: { [key]: [value] } } } };
      expect(parseCasResponse(JSON.stringify(json))).toEqual({ claims: { sub: 'li', [key]: [value] } });
    }),
  );
});

test('property: any escaped user is read unchanged', () => {
  fc.assert(
    fc.property(name, (user) => {
      const escaped = user.replace(/[&<>]/g, (letter) => `&#${letter.charCodeAt(0)};`);
      expect(parseCasResponse(answer(`<cas:user>${escaped}</cas:user>`))).toEqual({ claims: { sub: user.trim() } });
    }),
  );
});

test('property: any text is read or refused, without an unexpected error', () => {
  const right = answer('<cas:user>li</cas:user><cas:attributes><cas:cn>Li</cas:cn></cas:attributes>');
  const bent = fc
    .tuple(fc.nat(right.length), fc.nat(right.length), fc.string())
    .map(([from, to, text]) => right.slice(0, from) + text + right.slice(to));
  fc.assert(
    fc.property(fc.oneof(fc.string(), bent), (xml) => {
      const read = parseCasResponse(xml);
      if (read && 'claims' in read) expect(read.claims['sub']).toMatch(/\S/);
    }),
    { numRuns: tries(500) },
  );
});
