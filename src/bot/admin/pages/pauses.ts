import { postForm } from '../../../shared/pages/html-document.ts';
import { html, type SafeHtml } from '../../../shared/text/html.ts';
import { localize, type Catalogue, type Language } from '../../../shared/text/texts.ts';
import type { Pause, PauseTarget } from '../../domain/pause.ts';
import { PLATFORMS } from '../../platforms/registry.ts';
import { complaint, intro, resultText, selectField, table, textField, type ActView } from './layout.ts';
import { timeAt } from './times.ts';

const TEXTS = {
  lead: {
    en: 'A pause takes effect at once and lasts until you resume. Questions get a sentence instead of an answer; commands still work.',
    zh: '暂停立即生效，直到恢复为止。暂停期间，提问会得到一句说明而不是回答，指令仍可使用。',
  },
  none: { en: 'Nothing is paused.', zh: '没有暂停任何项目。' },
  table: { en: 'Pauses', zh: '已暂停的项目' },
  target: { en: 'Paused', zh: '对象' },
  message: { en: 'Message', zh: '留言' },
  since: { en: 'Since', zh: '开始时间' },
  act: { en: 'Resume', zh: '恢复' },
  resume: { en: 'Resume', zh: '恢复' },
  about: { en: 'Resume {target}', zh: '恢复 {target}' },
  kind: { en: 'Pause', zh: '暂停对象' },
  choose: { en: 'Choose…', zh: '请选择…' },
  aGroup: { en: 'A group', zh: '某个群' },
  aModel: { en: 'A model', zh: '某个模型' },
  name: { en: 'Group id or model', zh: '群编号或模型名称' },
  sentence: { en: 'Message to people (optional)', zh: '给用户的留言（可选）' },
  pause: { en: 'Pause', zh: '暂停' },
  needsKind: { en: 'Choose what to pause.', zh: '请选择要暂停的对象。' },
  needsName: {
    en: 'Enter the id of the group or the name of the model, without spaces.',
    zh: '请填写群编号或模型名称，不含空格。',
  },
  needsNoName: {
    en: 'Only a group or a model takes a name. Choose one of them, or clear the name.',
    zh: '只有群和模型需要填写名称。请改选其一，或清空名称。',
  },
  unknownModel: { en: '{name} is none of the models: {models}', zh: '没有模型 {name}。可用的模型：{models}' },
} as const satisfies Catalogue<string>;

const TARGETS = {
  all: { en: 'Everything', zh: '全部' },
  platform: { en: 'App {name}', zh: '办公应用 {name}' },
  group: { en: 'Group {name}', zh: '群 {name}' },
  model: { en: 'Model {name}', zh: '模型 {name}' },
} as const satisfies Catalogue<string>;

const RESULTS = {
  paused: { en: 'The pause has begun.', zh: '已暂停。' },
  resumed: { en: 'The pause has ended.', zh: '已恢复。' },
  'not-paused': { en: 'This was no longer paused.', zh: '该项目已不在暂停中。' },
} as const satisfies Catalogue<string>;

/** The form of a new pause. `kind` and `name` together are the target. */
export interface TypedPause {
  kind: string;
  name: string;
  message: string;
  /** The models that exist, if the name is none of them. */
  models?: readonly string[];
}

interface PausesView extends ActView {
  timeZone: string;
  pauses: readonly Pause[];
  /** The form, if it does not name a target. */
  refused: TypedPause | undefined;
}

export function pausesBody({ frame, timeZone, pauses, result, refused }: PausesView): SafeHtml {
  const { language, csrf } = frame;
  const text = (key: keyof typeof TEXTS) => localize(TEXTS[key], language);
  const row = ({ target, message, sinceMs }: Pause) => {
    const name = targetText(target, language);
    const about = localize(TEXTS.about, language, { target: name });
    const fields = html`<input type="hidden" name="target" value="${target}" /><button
        class="small"
        type="submit"
        aria-label="${about}"
      >
        ${text('resume')}
      </button>`;
    return html`<tr>
      <th scope="row">${name}</th>
      <td dir="auto">${message}</td>
      <td class="time">${timeAt(sinceMs, timeZone)}</td>
      <td>${postForm('/admin/pauses/resume', csrf, fields)}</td>
    </tr>`;
  };
  const heads = [text('target'), text('message'), text('since'), text('act')];
  return html`${intro(text('lead'), resultText(RESULTS, result, language))}
    <div class="ask">${postForm('/admin/pauses', csrf, pauseFields(refused, language))}</div>
    ${complaint(refused && complaintOf(refused, language))}
    ${table(text('table'), heads, pauses.map(row), text('none'))}`;
}

function pauseFields(refused: TypedPause | undefined, language: Language): SafeHtml {
  const text = (key: keyof typeof TEXTS) => localize(TEXTS[key], language);
  const { kind, name, message } = refused ?? { kind: '', name: '', message: '' };
  const apps = PLATFORMS.map(
    (platform) => [`platform:${platform.name}`, targetText(`platform:${platform.name}`, language)] as const,
  );
  const options = [
    ['', text('choose')],
    ['all', targetText('all', language)],
    ...apps,
    ['group:', text('aGroup')],
    ['model:', text('aModel')],
  ] as const;
  const fault = refused && faultOf(refused);
  const isKindWrong = fault === 'needsKind';
  const isNameWrong = fault !== undefined && !isKindWrong;
  return html`${selectField({ name: 'kind', label: text('kind'), value: kind, options, isWrong: isKindWrong })}
    ${textField({ name: 'name', label: text('name'), value: name, maxChars: 200, isRequired: false, isWrong: isNameWrong })}
    ${textField({ name: 'message', label: text('sentence'), value: message, maxChars: 500, isRequired: false })}
    <button class="primary" type="submit">${text('pause')}</button>`;
}

function complaintOf(refused: TypedPause, language: Language): string {
  const { name, models = [] } = refused;
  return localize(TEXTS[faultOf(refused)], language, { name, models: models.join(language === 'zh' ? '、' : ' · ') });
}

function faultOf({ kind, models }: TypedPause): 'needsKind' | 'needsName' | 'needsNoName' | 'unknownModel' {
  if (kind === '') return 'needsKind';
  if (models) return 'unknownModel';
  return kind.endsWith(':') ? 'needsName' : 'needsNoName';
}

function targetText(target: PauseTarget, language: Language): string {
  const [kind = 'all', ...rest] = target.split(':');
  const name = rest.join(':');
  const platform = kind === 'platform' ? PLATFORMS.find((one) => one.name === name) : undefined;
  const shown = platform ? localize(platform.label, language) : name;
  return localize(TARGETS[kind as keyof typeof TARGETS], language, { name: shown });
}
