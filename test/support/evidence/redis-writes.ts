/**
 * The commands of an append-only file, each as the bytes of its arguments with a blank between them. Writes to the messaging
 * app's own keys are left out: it stands for WeCom, which knows what its people write.
 */
export function* writesOf(file: Buffer): Generator<Buffer> {
  let at = 0;
  const line = () => {
    const end = file.indexOf('\r\n', at);
    const text = file.toString('latin1', at, end < 0 ? file.length : end);
    at = end < 0 ? file.length : end + 2;
    return text;
  };
  while (at < file.length) {
    const head = line();
    // Comments (`#TS:…`) and what a killed server left half written.
    if (!head.startsWith('*')) continue;
    const args: Buffer[] = [];
    for (let left = Number(head.slice(1)); left > 0 && at < file.length; left -= 1) {
      const bytes = Number(line().slice(1));
      args.push(file.subarray(at, at + bytes));
      at += bytes + 2;
    }
    if (!args[1]?.toString('latin1').startsWith('messenger:')) yield Buffer.concat(args.flatMap((arg) => [arg, SPACE]));
  }
}

const SPACE = Buffer.from(' ');
