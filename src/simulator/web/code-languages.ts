import { c, cpp, csharp, dart, java, kotlin, scala } from '@codemirror/legacy-modes/mode/clike';
import { css, less, sCSS } from '@codemirror/legacy-modes/mode/css';
import { diff } from '@codemirror/legacy-modes/mode/diff';
import { dockerFile } from '@codemirror/legacy-modes/mode/dockerfile';
import { go } from '@codemirror/legacy-modes/mode/go';
import { javascript, json, typescript } from '@codemirror/legacy-modes/mode/javascript';
import { powerShell } from '@codemirror/legacy-modes/mode/powershell';
import { properties } from '@codemirror/legacy-modes/mode/properties';
import { python } from '@codemirror/legacy-modes/mode/python';
import { r } from '@codemirror/legacy-modes/mode/r';
import { ruby } from '@codemirror/legacy-modes/mode/ruby';
import { rust } from '@codemirror/legacy-modes/mode/rust';
import { shell } from '@codemirror/legacy-modes/mode/shell';
import { standardSQL } from '@codemirror/legacy-modes/mode/sql';
import { swift } from '@codemirror/legacy-modes/mode/swift';
import { toml } from '@codemirror/legacy-modes/mode/toml';
import { html, xml } from '@codemirror/legacy-modes/mode/xml';
import type { StreamParser } from '@codemirror/streamparser';
import { yaml } from './yaml-parser.ts';

/** The most common languages in answers, by the names that models use. */
const LANGUAGES: readonly [names: string, parser: StreamParser<unknown>][] = [
  ['javascript js jsx mjs cjs node', javascript],
  ['typescript ts tsx mts', typescript],
  ['json jsonc json5 jsonl', json],
  ['python py python3', python],
  ['bash sh shell zsh console terminal', shell],
  ['sql mysql postgresql postgres pgsql sqlite plsql', standardSQL],
  ['yaml yml', yaml],
  ['html vue svelte htm', html],
  ['xml svg xhtml pom', xml],
  ['css', css],
  ['scss sass', sCSS],
  ['less', less],
  ['c h', c],
  ['cpp c++ cc hpp cxx', cpp],
  ['java', java],
  ['csharp cs c#', csharp],
  ['kotlin kt kts', kotlin],
  ['scala', scala],
  ['dart', dart],
  ['go golang', go],
  ['rust rs', rust],
  ['ruby rb', ruby],
  ['swift', swift],
  ['r', r],
  ['powershell ps1 pwsh', powerShell],
  ['dockerfile docker', dockerFile],
  ['diff patch', diff],
  ['toml', toml],
  ['ini properties env dotenv conf', properties],
];

const BY_NAME = new Map(
  LANGUAGES.flatMap(([names, parser]) => names.split(' ').map((name) => [name, parser] as const)),
);

/** The parser for the language name of a fence; undefined for an unknown language. */
export function languageNamed(name: string): StreamParser<unknown> | undefined {
  return BY_NAME.get(name.toLowerCase());
}
