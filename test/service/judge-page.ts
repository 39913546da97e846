import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { expect } from '@jest/globals';
import type { Page } from 'playwright-core';

/** Set it to a folder to look at the pages: each is then taken in both colours and languages, English wide, Chinese as on a phone. */
const picturesDir = process.env['PICTURES_DIR'];
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** axe-core finds nothing serious (style/pages.md), and the page is as wide as the window. */
export async function judgePage(page: Page, name: string): Promise<void> {
  await page.evaluate(AXE);
  const violations = await page.evaluate(
    'axe.run().then(({ violations }) => violations.map(({ id, impact }) => `${impact} ${id}`))',
  );
  expect([name, violations]).toEqual([name, []]);
  expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
  if (picturesDir !== undefined) await page.screenshot({ path: join(picturesDir, `${name}.png`), fullPage: true });
}
