/**
 * The commands of an append-only file, each as the bytes of its arguments joined by spaces. Writes to the simulator's own
 * keys are left out: the simulator replaces WeCom, which knows the texts of its people.
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
    // Comments (`#TS:…`) and a command that a killed server left incomplete.
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
