import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';

const FILE_NAME = 'own-model.json';
const schema = z.object({
  baseUrl: z.url(),
  apiKey: z.string(),
  model: z.string().min(1),
  /** The models of its service, if the person did not name one. */
  models: z.array(z.string().min(1)).optional(),
});

/** The model that answers instead of the built-in one in local mode, as connected by the person on the page. */
export type OwnModel = z.infer<typeof schema>;

/** Undefined if none is connected or the file cannot be read. The built-in model then answers, and the page says so. */
export function readOwnModel(dataDir: string): OwnModel | undefined {
  const path = join(dataDir, FILE_NAME);
  if (!existsSync(path)) return undefined;
  try {
    return schema.safeParse(JSON.parse(readFileSync(path, 'utf8'))).data;
  } catch {
    return undefined;
  }
}

/** Stores the model for its owner only (mode 0600), because it contains a key. `undefined` deletes it. */
export function saveOwnModel(dataDir: string, own: OwnModel | undefined): void {
  const path = join(dataDir, FILE_NAME);
  if (!own) return rmSync(path, { force: true });
  const half = `${path}.new`;
  rmSync(half, { force: true });
  writeFileSync(half, `${JSON.stringify(own, null, 2)}\n`, { mode: 0o600 });
  renameSync(half, path);
}
