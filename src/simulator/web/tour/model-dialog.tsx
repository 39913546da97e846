import { useEffect, useRef, useState } from 'preact/hooks';
import type { EngineView, ModelView } from '../../local-controls.ts';
import { usePage } from '../page-context.ts';
import { EngineList, hostOf, nameOf } from './engine-list.tsx';
import { chooseBuiltIn, connectModel } from './local-api.ts';
import { tourIn, type SayTour } from './tour-texts.ts';

interface ModelDialogProps {
  model: ModelView;
  onModel(model: ModelView): void;
  onLeave(): void;
}

type Trial = { isGood: boolean; text: string } | 'trying' | undefined;

/** Offers the engines on this computer, or asks for an address and a key; tests either immediately. The key is sent with the request and is not stored here. */
export function ModelDialog({ model, onModel, onLeave }: ModelDialogProps) {
  const { language } = usePage();
  const say = tourIn(language);
  const dialog = useRef<HTMLDialogElement>(null);
  const [outcome, setOutcome] = useState<Trial>(undefined);
  const [request, setRequest] = useState({ address: '', apiKey: '', model: '' });
  useEffect(() => dialog.current?.showModal(), []);
  const write = (name: keyof typeof request) => (event: { currentTarget: HTMLInputElement }) =>
    setRequest({ ...request, [name]: event.currentTarget.value });
  const change = async (work: () => Promise<Exclude<Trial, 'trying'>>) => {
    setOutcome('trying');
    setOutcome(await work().catch(() => ({ isGood: false, text: say('fault_away') })));
  };
  const connect = () => change(() => tryRequest(request, { say, onModel }));
  const use = (engine: EngineView) =>
    change(async () => {
      const gone = say('engineGone', { engine: nameOf(engine, say), host: hostOf(engine) });
      return tryRequest({ address: engine.address, apiKey: '', model: '' }, { say, onModel, gone });
    });
  const back = () =>
    change(async () => {
      onModel(await chooseBuiltIn());
      return { isGood: true, text: say('builtInWorks') };
    });
  const isTrying = outcome === 'trying';
  // A completed action cannot be cancelled.
  const isChanged = outcome !== undefined && !isTrying && outcome.isGood;
  return (
    <dialog ref={dialog} class="model-dialog" aria-labelledby="model-title" onClose={onLeave}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (!isTrying) void connect();
        }}
      >
        <h2 id="model-title">{say('modelTitle')}</h2>
        <p>{say('modelHint')}</p>
        <EngineList isTrying={isTrying} onUse={(engine) => void use(engine)} />
        <h3>{say('otherService')}</h3>
        <label>
          {say('address')}
          <input
            type="text"
            inputMode="url"
            autocomplete="off"
            spellcheck={false}
            required
            placeholder="https://api.example.com/v1"
            value={request.address}
            onInput={write('address')}
          />
        </label>
        <label>
          {say('key')}
          <input type="password" autocomplete="off" value={request.apiKey} onInput={write('apiKey')} />
        </label>
        <label>
          {say('modelName')}
          <input type="text" autocomplete="off" spellcheck={false} value={request.model} onInput={write('model')} />
        </label>
        <p class={`model-outcome ${outcome && !isTrying && !outcome.isGood ? 'bad' : ''}`} role="status">
          {isTrying ? say('trying') : outcome?.text}
        </p>
        <div class="model-buttons">
          <button type="submit" class="primary" aria-disabled={isTrying}>
            {say('tryModel')}
          </button>
          {model.kind === 'own' && (
            <button type="button" aria-disabled={isTrying} onClick={() => isTrying || void back()}>
              {say('backToBuiltIn')}
            </button>
          )}
          <button type="button" onClick={() => dialog.current?.close()}>
            {say(isChanged ? 'done' : 'leave')}
          </button>
        </div>
      </form>
    </dialog>
  );
}

async function tryRequest(
  request: { address: string; apiKey: string; model: string },
  { say, onModel, gone }: { say: SayTour; onModel(model: ModelView): void; gone?: string },
): Promise<Exclude<Trial, 'trying'>> {
  const { address, apiKey, model } = request;
  const answer = await connectModel({
    address,
    apiKey: apiKey.trim(),
    model: model.trim() === '' ? undefined : model.trim(),
  });
  if ('fault' in answer) {
    const { code, detail = '' } = answer.fault;
    if (code === 'unreachable' && gone !== undefined) return { isGood: false, text: gone };
    return { isGood: false, text: say(`fault_${code}`, { detail }) };
  }
  onModel(answer);
  return { isGood: true, text: say('modelWorks', { model: answer.kind === 'built-in' ? '' : answer.model }) };
}
