import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { expect } from '@jest/globals';
import type { Page } from 'playwright-core';

/**
 * Directory for screenshots. If set, each page is captured in both color schemes and languages: English at desktop width,
 * Chinese at phone width.
 */
const picturesDir = process.env['PICTURES_DIR'];
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Expects no serious finding of axe-core, and a page as wide as the window. */
export async function judgePage(page: Page, name: string): Promise<void> {
  await page.evaluate(AXE);
  const violations = await page.evaluate(
    'axe.run().then(({ violations }) => violations.map(({ id, impact }) => `${impact} ${id}`))',
  );
  expect([name, violations]).toEqual([name, []]);
  expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
  if (picturesDir !== undefined) await page.screenshot({ path: join(picturesDir, `${name}.png`), fullPage: true });
}
