import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { html, plainName, trustedHtml } from '../../../src/shared/text/html.ts';
import { anyText } from '../../support/any-text.ts';

test('no value can open a tag, an attribute or an entity', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...`<>&"'a= /;`) }), (value) => {
      const written = html`<p title="${value}">${value}</p>`.text;
      const inner = written.slice('<p title="'.length, -'</p>'.length);
      expect(inner.split('">')).toHaveLength(2);
      expect(inner.replace('">', '')).not.toMatch(/[<>"']|&(?!amp;|lt;|gt;|quot;|#39;)/);
    }),
  );
});

test('HTML fragments nest, lists are joined, and empty values disappear', () => {
  const items = ['a', '<b>'].map((item) => html`<i>${item}</i>`);
  const empty = html`${false}${null}${undefined}${''}`;
  expect(html`<b>${items}</b>`.text).toBe('<b><i>a</i><i>&lt;b&gt;</i></b>');
  expect(html`<p>${empty}${0}${trustedHtml('<hr>')}</p>`.text).toBe('<p>0<hr></p>');
});

test('a name loses disguising characters, and has at most 64 characters [named-before-consent]', () => {
  expect(plainName(' A\u202elice\u200b\u0007\n\u{e0041} \u2028')).toBe('Alice');
  expect(plainName('张三')).toBe('张三');
  expect([...plainName('😀'.repeat(80))]).toHaveLength(64);
  fc.assert(
    fc.property(anyText(), (name) => {
      const plain = plainName(name);
      expect(plain).not.toMatch(/[\p{Cc}\p{Cf}\u2028\u2029]/u);
      expect([...plain].length).toBeLessThanOrEqual(64);
    }),
  );
});
