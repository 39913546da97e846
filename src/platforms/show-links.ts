/** `[label](address)` with or without `!` before it; lengths are bounded so that no text makes the search slow. */
const LINK =
  /(!?)\[((?:[^[\]\\\n]|\\.|\[[^[\]\n]{0,300}\]){0,300})\]\(\s{0,8}<?([^\s()<>]{0,2000}(?:\([^\s()<>]{0,300}\)[^\s()<>]{0,300}){0,8})>?(?:\s[^()\n]{0,300})?\)/g;
const IMAGE_SIGN = /!(?=\[)/g;
const IMAGE_IN_LABEL = /!?\[([^[\]\n]{0,300})\]\([^()\n]{0,2000}\)/g;
const LOADING_TAG = /<(?=\s{0,8}(?:img|iframe|video|audio|svg|object|embed)\b)/gi;

/**
 * Rewrites prose so that links lead where they say (security.md 6.5): only http and https, images from outside become
 * links with their address in full, and a label that names another host is put beside the address instead.
 */
export function showLinksOpenly(prose: string): string {
  const shown = prose.replace(LINK, (_whole, sign: string, label: string, address: string) =>
    showLink({ isImage: sign === '!', label: label.replace(IMAGE_IN_LABEL, '$1').replace(IMAGE_SIGN, ''), address }),
  );
  return shown.replace(IMAGE_SIGN, '').replace(LOADING_TAG, '＜');
}

interface Link {
  isImage: boolean;
  label: string;
  address: string;
}

function showLink({ isImage, label, address }: Link): string {
  const isWeb = /^https?:\/\//i.test(address) && URL.canParse(address);
  if (!isWeb) return `${label} (${address})`;
  if (label === address) return `[${address}](${address})`;
  if (isImage) return `${label === '' ? '' : `${label}: `}[${address}](${address})`;
  return namesAnotherHost(label, new URL(address)) ? `${label} ([${address}](${address}))` : `[${label}](${address})`;
}

const HOST_LIKE = /(?:[\p{L}\p{N}][\p{L}\p{N}-]{0,62}\.){1,8}\p{L}{2,63}/giu;
/** `readme.md` and `app.ts` look like hosts, but are what people call files. */
const FILE_NAME = /^[^.]+\.(?:md|[mc]?[jt]sx?|json|ya?ml|txt|html?|css|csv|pdf|docx?|xlsx?|pptx?|png|jpe?g|svg)$/i;

function namesAnotherHost(label: string, url: URL): boolean {
  const hosts = label.replace(url.href, '').match(HOST_LIKE) ?? [];
  return hosts.some((host) => host.toLowerCase() !== url.hostname && !FILE_NAME.test(host));
}
