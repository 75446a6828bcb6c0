import { useMemo, useState } from 'react'

import { stringify } from '~/api/exact'
import { useLocale, useTranslation } from '~/i18n'
import { Button } from '~/kit/button'
import { cn } from '~/kit/cn'
import { CopyButton } from '~/kit/copy'
import { LongText } from '~/kit/long-text'
import { plain } from '~/kit/plain'

/** So much text is drawn at once; copying takes all of it. */
const SHOWN = 20_000
/** Lines that are longer are wrapped: nobody scrolls sideways that far. */
const LINE_MAX = 1_000

/** A value as JSON. */
export function Raw({ value, name }: { value: unknown; name: string }) {
  const { t } = useTranslation('result')
  const locale = useLocale()
  const [isWhole, setWhole] = useState(false)
  const text = useMemo(() => stringify(value, 2) ?? '', [value])
  const wraps = useMemo(() => text.split('\n').some((line) => line.length > LINE_MAX), [text])
  const isCut = text.length > SHOWN && !isWhole
  return (
    <div className="relative min-w-0">
      <pre
        tabIndex={0}
        aria-label={name}
        className={cn(
          'max-h-[32rem] min-w-0 overflow-auto rounded-md border border-line bg-raised p-3 pr-12 font-mono text-xs',
          wraps && 'wrap-anywhere whitespace-pre-wrap',
        )}
      >
        {isWhole ? <LongText text={text} /> : plain(text.slice(0, SHOWN))}
      </pre>
      <div className="absolute top-1.5 right-1.5 rounded-md bg-raised">
        <CopyButton text={text} name={t('copy_json')} />
      </div>
      {isCut && (
        <p className="mt-1.5 flex flex-wrap items-center gap-2 text-xs text-muted">
          {t('cut')}
          <Button size="small" onClick={() => setWhole(true)}>
            {t('show_all_size', { size: sizeOf(text.length, locale) })}
          </Button>
        </p>
      )}
    </div>
  )
}

function sizeOf(letters: number, locale: string): string {
  const unit = letters < 1_000_000 ? 'kilobyte' : 'megabyte'
  const value = letters / (unit === 'kilobyte' ? 1_000 : 1_000_000)
  return new Intl.NumberFormat(locale, { style: 'unit', unit, maximumFractionDigits: 1 }).format(
    value,
  )
}
