/** The name that an answer gives its bytes by Content-Disposition, as it is written there; nobody has judged it. */
export function fileNameOf(disposition: string | string[] | undefined): string | undefined {
  if (typeof disposition !== 'string') return undefined;
  const encoded = /filename\*\s*=\s*utf-8'[^']*'([^;]+)/i.exec(disposition)?.[1];
  if (encoded !== undefined) return decoded(encoded.trim());
  const quoted = /filename\s*=\s*"((?:[^"\\]|\\.)*)"/i.exec(disposition)?.[1]?.replace(/\\(.)/g, '$1');
  const plain = quoted ?? /filename\s*=\s*([^;\s][^;]*)/i.exec(disposition)?.[1]?.trim();
  // Headers come byte by byte; WeCom writes names in them as they are, or with percent signs.
  return plain === undefined ? undefined : decoded(Buffer.from(plain, 'latin1').toString('utf8'));
}

function decoded(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}
