import type { StreamParser, StringStream } from '@codemirror/streamparser';

/** Whether the value of a key is still expected on this line. */
interface YamlState {
  isValue: boolean;
}

const KEY = /^(?:"[^"]{0,200}"|'[^']{0,200}'|[^\s:#"'[\]{},&*!|>%@`-][^:#"'[\]{},]{0,200}):(?=\s|$)/;
const CONSTANT = /^(?:true|false|yes|no|on|off|null|~|[-+]?\d[\d_]*(?:\.\d+)?)(?=\s*(?:$|[,\]}#]))/i;
const STRING = /^(?:"(?:\\.|[^"\\])*"?|'[^']*'?)/;
const MARKER = /^(?:---|\.\.\.|%.*$)/;
const ANCHOR = /^(?:[&*!][^\s,\]}]*|[|>][-+\d]*\s*$)/;

/** YAML parser that works line by line. The library's own parser takes minutes for maliciously long lines. */
export const yaml: StreamParser<YamlState> = {
  name: 'yaml',
  startState: () => ({ isValue: false }),
  copyState: (state) => ({ ...state }),
  token(stream, state) {
    if (stream.sol()) state.isValue = false;
    if (stream.eatSpace()) return null;
    if (stream.peek() === '#') {
      stream.skipToEnd();
      return 'comment';
    }
    return styleOf(stream, state);
  },
};

function styleOf(stream: StringStream, state: YamlState): string | null {
  if (stream.sol() && stream.match(MARKER)) return 'meta';
  if (!state.isValue && stream.match(KEY)) {
    state.isValue = true;
    return 'property';
  }
  if (stream.match(STRING)) return 'string';
  if (stream.match(ANCHOR)) return 'meta';
  if (stream.match(CONSTANT)) return 'atom';
  const sign = stream.next();
  if (sign !== undefined && '-?[]{},'.includes(sign)) state.isValue = false;
  else stream.eatWhile(/[^\s,\]}#"']/);
  return null;
}
