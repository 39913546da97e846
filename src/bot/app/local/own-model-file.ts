import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';

const FILE_NAME = 'own-model.json';
const schema = z.object({ baseUrl: z.url(), apiKey: z.string(), model: z.string().min(1) });

/** The model that answers in local mode in the built-in one's place, as its person connected it on the page. */
export type OwnModel = z.infer<typeof schema>;

/** Undefined where none was connected, or where the file cannot be read: then the built-in model answers, which the page says. */
export function readOwnModel(dataDir: string): OwnModel | undefined {
  const path = join(dataDir, FILE_NAME);
  if (!existsSync(path)) return undefined;
  try {
    return schema.safeParse(JSON.parse(readFileSync(path, 'utf8'))).data;
  } catch {
    return undefined;
  }
}

/** Keeps it for its owner alone (mode 0600), since it holds a key; `undefined` forgets it. */
export function keepOwnModel(dataDir: string, own: OwnModel | undefined): void {
  const path = join(dataDir, FILE_NAME);
  if (!own) return rmSync(path, { force: true });
  const half = `${path}.new`;
  rmSync(half, { force: true });
  writeFileSync(half, `${JSON.stringify(own, null, 2)}\n`, { mode: 0o600 });
  renameSync(half, path);
}
