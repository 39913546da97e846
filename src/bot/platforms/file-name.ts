/** The raw, unvalidated file name of a Content-Disposition header. */
export function parseDispositionFileName(disposition: string | string[] | undefined): string | undefined {
  if (typeof disposition !== 'string') return undefined;
  const encoded = /filename\*\s*=\s*utf-8'[^']*'([^;]+)/i.exec(disposition)?.[1];
  if (encoded !== undefined) return decoded(encoded.trim());
  const quoted = /filename\s*=\s*"((?:[^"\\]|\\.)*)"/i.exec(disposition)?.[1]?.replace(/\\(.)/g, '$1');
  const plain = quoted ?? /filename\s*=\s*([^;\s][^;]*)/i.exec(disposition)?.[1]?.trim();
  // Header bytes arrive as latin1; WeCom writes names raw or percent-encoded.
  return plain === undefined ? undefined : decoded(Buffer.from(plain, 'latin1').toString('utf8'));
}

function decoded(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}
