/** Stops at whitespace, quotation marks and Chinese punctuation. */
const ADDRESS = /https?:\/\/[^\s<>"'`“”‘’「」『』《》，。；：！？、（）【】]{1,2000}/giu;
/** A host without a scheme, with its path. */
const BARE_ADDRESS =
  /(?<![\p{Script=Latin}\p{N}.@-])(?:[\p{L}\p{N}][\p{L}\p{M}\p{N}-]{0,62}\.){1,8}[\p{L}\p{N}][\p{L}\p{M}\p{N}-]{0,62}(?::\d{1,5})?(?:\/[^\s<>"'`“”‘’「」『』《》，。；：！？、（）【】]{0,2000})?/gu;
/** Trailing punctuation and closing brackets may belong to the address or to the surrounding text. */
const CLOSING_SIGNS = /(?<![.,;:!?)\]}*_~|\\])[.,;:!?)\]}*_~|\\]+$/;
const FIRST_BRACKET = /[()[\]{}]/;
const HAN = /\p{Script=Han}/u;
const LEADING_HAN = /^\p{Script=Han}+(?=[a-z\d])/iu;

/**
 * Addresses that people wrote in a prompt or that tools found. Only these are opened, and only labels that link to their
 * hosts are shown unchanged. Otherwise an instruction hidden in a page could make the model leak data in an address that the
 * attacker controls (SECURITY.md named-addresses).
 */
export class NamedAddresses {
  readonly #keys = new Set<string>();
  readonly #hosts = new Set<string>();

  /** @param texts texts written by people */
  constructor(texts: readonly string[]) {
    for (const text of texts) this.add(text);
  }

  get hosts(): ReadonlySet<string> {
    return this.#hosts;
  }

  /** @param byModel input from the model that produced the text: an address that only echoes this input does not count */
  add(text: string, byModel = ''): void {
    const echoed = new Set([...addressesIn(byModel)].map(({ key }) => key));
    for (const { key, host } of addressesIn(text)) {
      if (echoed.has(key) || echoed.has(key.replace(CLOSING_SIGNS, ''))) continue;
      this.#keys.add(key);
      this.#hosts.add(host);
    }
  }

  /** Whether exactly this address was named. Scheme, fragment and a trailing slash are ignored. */
  has(address: string): boolean {
    const named = readAddress(address);
    return named !== undefined && this.#keys.has(named.key);
  }
}

interface NamedAddress {
  key: string;
  host: string;
}

function* addressesIn(text: string): Generator<NamedAddress> {
  // An address has a dot, or a scheme before a host such as localhost.
  if (!text.includes('.') && !text.includes('://')) return;
  for (const expression of [ADDRESS, BARE_ADDRESS])
    for (const [written] of text.matchAll(expression))
      for (const spelling of spellingsOf(written)) {
        const address = readAddress(spelling);
        if (address) yield address;
      }
}

/** The address as written, and variants without characters that may belong to the surrounding text. */
function spellingsOf(written: string): Set<string> {
  const bare = written.replace(LEADING_HAN, '');
  const spellings = [bare, bare.replace(CLOSING_SIGNS, '')];
  for (const end of [FIRST_BRACKET, HAN]) {
    const at = bare.search(end);
    if (at > 0) spellings.push(bare.slice(0, at), bare.slice(0, at).replace(CLOSING_SIGNS, ''));
  }
  return new Set(spellings);
}

function readAddress(written: string): NamedAddress | undefined {
  const whole = /^https?:\/\//i.test(written) ? written : `https://${written}`;
  if (!URL.canParse(whole)) return undefined;
  const { username, password, host, hostname, pathname, search } = new URL(whole);
  // A user name before the host can pass for a host.
  if (username !== '' || password !== '') return undefined;
  return { key: `${host}${pathname.endsWith('/') ? pathname.slice(0, -1) : pathname}${search}`, host: hostname };
}
