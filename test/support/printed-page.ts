/** The simulator's page as opened by the user who started Parley. */
export interface PrintedPage {
  /** The simulator's origin. */
  url: string;
  /** The printed address. */
  address: string;
  /** The cookie that the browser keeps. */
  headers: { cookie: string };
}

/** The output of a start once the bot is reachable and the page's address is known, in either order. */
export const PAGE_IS_UP = /the bot verified its address[^]*\?token=[\w-]+|\?token=[^]*the bot verified its address/;

const ADDRESS = /http:\/\/127\.0\.0\.1:\d+\/\?token=[\w-]+/;

/** Opens the address in the output of a start, like a browser. @throws Error if there is none */
export async function openPrintedPage(output: string): Promise<PrintedPage> {
  const [address] = ADDRESS.exec(output) ?? [];
  if (address === undefined) throw new Error(`No address of the messenger was printed: ${output.slice(-1_000)}`);
  const answer = await fetch(address, { redirect: 'manual' });
  const [cookie = ''] = (answer.headers.get('set-cookie') ?? '').split(';');
  return { url: new URL(address).origin, address, headers: { cookie } };
}
