// Loaded into a process before it starts (`node --import`): writes a line for each use of a key to the file CRYPTO_COUNTS.
import crypto, { KeyObject } from 'node:crypto';
import { appendFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

for (const name of ['createCipheriv', 'createDecipheriv', 'createHmac']) {
  const original = crypto[name];
  crypto[name] = (algorithm, key, ...rest) => {
    appendFileSync(
      process.env.CRYPTO_COUNTS,
      `${name} ${algorithm} ${key instanceof KeyObject ? 'key-object' : 'raw'}\n`,
    );
    return original(algorithm, key, ...rest);
  };
}
syncBuiltinESMExports();
