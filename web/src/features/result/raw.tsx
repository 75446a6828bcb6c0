import { useMemo } from 'react'
import { useTranslation } from 'react-i18next'

import { stringify } from '~/api/exact'
import { CopyButton } from '~/kit/copy'
import { plain } from '~/kit/plain'

/** So much text is drawn at once; copying and saving take all of it. */
const SHOWN = 100_000

/** A value as JSON. */
export function Raw({ value, name }: { value: unknown; name: string }) {
  const { t } = useTranslation('result')
  const text = useMemo(() => stringify(value, 2) ?? '', [value])
  return (
    <div className="relative min-w-0">
      <pre
        tabIndex={0}
        aria-label={name}
        className="max-h-[32rem] min-w-0 overflow-auto rounded-md border border-line bg-raised p-3 pr-12 font-mono text-xs"
      >
        {plain(text.slice(0, SHOWN))}
      </pre>
      <div className="absolute top-1.5 right-1.5 rounded-md bg-raised">
        <CopyButton text={text} name={t('copy_json')} />
      </div>
      {text.length > SHOWN && <p className="mt-1 text-xs text-muted">{t('cut')}</p>}
    </div>
  )
}
