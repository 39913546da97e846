// Writes config/.env.example and the README's settings tables from the schema in src/settings.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { GENERATED_FILES } from '../dist/settings/settings-docs.js';

for (const { path, render } of GENERATED_FILES) {
  const present = existsSync(path) ? readFileSync(path, 'utf8') : '';
  writeFileSync(path, render(present));
}
