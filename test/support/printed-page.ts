/** The messenger's page as the user who started Parley opens it. */
export interface PrintedPage {
  /** The messenger's origin. */
  url: string;
  /** The address that was printed. */
  address: string;
  /** What the browser keeps of it. */
  headers: { cookie: string };
}

/** What a start prints once the bot is reachable and the page's address is known; either may come first. */
export const PAGE_IS_UP = /the bot proved its address[^]*\?token=[\w-]+|\?token=[^]*the bot proved its address/;

const ADDRESS = /http:\/\/127\.0\.0\.1:\d+\/\?token=[\w-]+/;

/** Opens the address that a start printed, as a browser does. @throws Error when none was printed */
export async function openPrintedPage(output: string): Promise<PrintedPage> {
  const [address] = ADDRESS.exec(output) ?? [];
  if (address === undefined) throw new Error(`No address of the messenger was printed: ${output.slice(-1_000)}`);
  const answer = await fetch(address, { redirect: 'manual' });
  const [cookie = ''] = (answer.headers.get('set-cookie') ?? '').split(';');
  return { url: new URL(address).origin, address, headers: { cookie } };
}
