import { html, trustedHtml } from '../../shared/text/html.ts';
import { compareRuns, type Change, type Result, type RunRecord } from './run-record.ts';

const MAX_LINE_CHARS = 90;

/** One terminal line, printed during the run. */
export function lineOf({ holds, ask, as, in: place, faults, tookMs }: Result, number: number): string {
  const verdict = holds ? 'ok  ' : 'FAIL';
  const head = `${verdict} ${String(number).padStart(3)}  ${as}, ${place}: ${short(ask)} (${(tookMs / 1_000).toFixed(1)} s)`;
  return [head, ...faults.map((fault) => `          ${fault}`)].join('\n');
}

/** The summary of a run, for the terminal. */
export function summaryOf({ results }: RunRecord, before: RunRecord | undefined): string {
  const failed = results.filter(({ holds }) => !holds).length;
  const total = `${results.length - failed} of ${results.length} questions passed`;
  if (!before) return total;
  const changes = compareRuns(results, before);
  const count = (wanted: Change) => changes.filter((change) => change === wanted).length;
  const worse = results.filter((_, index) => changes[index] === 'worse').map(({ ask }) => `  worse: ${short(ask)}`);
  const better = results.filter((_, index) => changes[index] === 'better').map(({ ask }) => `  better: ${short(ask)}`);
  const compared = `compared with ${before.at}: ${count('better')} better, ${count('worse')} worse, ${count('same')} the same, ${count('new')} new`;
  return [total, compared, ...worse, ...better].join('\n');
}

const STYLE = `body{font:16px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:60rem;padding:0 1rem;color:#1c1c1e;background:#fff}
table{border-collapse:collapse;width:100%}th,td{border-bottom:1px solid #d8d8dc;padding:.5rem;text-align:left;vertical-align:top}
.ok{color:#0a6b2d}.fail{color:#b00020}pre{white-space:pre-wrap;margin:.25rem 0;font:inherit}small{color:#55555a}
@media(prefers-color-scheme:dark){body{background:#1c1c1e;color:#f2f2f7}.ok{color:#5fd38d}.fail{color:#ff8a8a}small{color:#aeaeb2}th,td{border-color:#3a3a3c}}`;

/** The same as a self-contained HTML page. */
export function pageOf(run: RunRecord, before: RunRecord | undefined): string {
  const { results, at, model, questions } = run;
  const changes = compareRuns(results, before);
  const rows = results.map(
    ({ ask, as, in: place, holds, faults, text, beside, tookMs }, index) =>
      html`<tr>
        <td>${index + 1}</td>
        <td class="${holds ? 'ok' : 'fail'}">
          ${holds ? 'passed' : 'failed'}${before && html`<br /><small>${changes[index]}</small>`}
        </td>
        <td>
          <strong>${ask}</strong><br /><small>${as}, ${place}, ${(tookMs / 1_000).toFixed(1)} s</small>
          ${faults.map((fault) => html`<div class="fail">${fault}</div>`)}
          <details>
            <summary>Answer</summary>
            <pre>${text}</pre>
            <small><pre>${beside}</pre></small>
          </details>
        </td>
      </tr>`,
  );
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width" />
        <title>Questions to Parley</title>
        <style>
          ${trustedHtml(STYLE)}
        </style>
      </head>
      <body>
        <h1>Questions to Parley</h1>
        <p>
          ${summaryOf(run, before)
            .split('\n')
            .map((line) => html`${line}<br />`)}<small>${at}, ${questions}, ${model}</small>
        </p>
        <table>
          <thead>
            <tr>
              <th>#</th>
              <th>Result</th>
              <th>Question</th>
            </tr>
          </thead>
          <tbody>
            ${rows}
          </tbody>
        </table>
      </body>
    </html> `.text;
}

function short(text: string): string {
  const line = text.replace(/\s+/g, ' ');
  return line.length <= MAX_LINE_CHARS ? line : `${line.slice(0, MAX_LINE_CHARS - 1)}…`;
}
