// Writes config/.env.example and docs/SETTINGS.md from the schema in src/settings.
import { writeFileSync } from 'node:fs';
import { GENERATED_FILES } from '../dist/settings/settings-docs.js';

for (const { path, render } of GENERATED_FILES) writeFileSync(path, render());
