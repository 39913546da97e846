// Writes config/.env.example and the settings pages from the schema in src/bot/config.
import { writeFileSync } from 'node:fs';
import { GENERATED_FILES } from '../dist-modules/bot/config/settings-docs.js';

for (const { path, render } of GENERATED_FILES) writeFileSync(path, render());
