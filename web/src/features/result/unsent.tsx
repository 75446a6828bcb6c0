import { useTranslation } from '~/i18n'
import { Raw } from './raw'

/** What a person had changed when somebody else was faster. It is theirs to keep. */
export function Unsent({ input, note }: { input: unknown; note: string | undefined }) {
  const { t } = useTranslation('approvals')
  return (
    <section aria-labelledby="unsent" className="grid min-w-0 gap-3 rounded-lg bg-warn-soft p-4">
      <h2 id="unsent" className="text-base font-semibold text-warn">
        {t('unsent')}
      </h2>
      {note && <p className="break-words whitespace-pre-wrap">{note}</p>}
      {input !== undefined && <Raw value={input} name={t('unsent')} />}
    </section>
  )
}
