import { useEffect, useState } from 'preact/hooks';
import type { ModelView } from '../../local-controls.ts';
import { usePage } from '../page-context.ts';
import { fetchModel } from './local-api.ts';
import { ModelDialog } from './model-dialog.tsx';
import { tourIn } from './tour-texts.ts';
import type { Tour } from './use-tour.ts';
import { STEPS } from './what-happened.ts';

export const TOUR_ID = 'tour';

/** Explains local mode, and shows the model in use and the progress of the tour. */
export function Ribbon({ tour }: { tour: Tour }) {
  const { language } = usePage();
  const say = tourIn(language);
  const [model, setModel] = useState<ModelView | undefined>(undefined);
  const [isOpen, setOpen] = useState(false);
  useEffect(() => {
    fetchModel().then(setModel, () => undefined);
  }, []);
  return (
    <section class="ribbon" aria-label={say('localMode')}>
      <strong>{say('localMode')}</strong>
      <span class="ribbon-words">
        {model && (model.kind === 'built-in' ? say('builtInAnswers') : say('ownAnswers', { ...model }))}
      </span>
      {model && model.kind !== 'settings' && (
        <button type="button" class="ribbon-button" onClick={() => setOpen(true)}>
          {say(model.kind === 'own' ? 'changeModel' : 'connectModel')}
        </button>
      )}
      <button
        type="button"
        class="ribbon-button"
        aria-expanded={!tour.isHidden}
        aria-controls={tour.isHidden ? undefined : TOUR_ID}
        onClick={tour.toggle}
      >
        {say('tour')} <span class="ribbon-count">{say('tourDone', { done: tour.done.size, all: STEPS.length })}</span>
      </button>
      {isOpen && model && <ModelDialog model={model} onModel={setModel} onLeave={() => setOpen(false)} />}
    </section>
  );
}
