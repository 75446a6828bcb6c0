import { useMemo } from 'react'

import { useLocale, useTranslation } from '~/i18n'
import { digest } from './digest'
import { Place } from './place'

interface Props {
  /** Missing while it is read, and where it is no more: then the names are those that were sent. */
  tool: { input_schema: unknown; form_spec?: unknown } | undefined
  input: unknown
  /** The members in which this input differs from others of the same list. */
  varying?: ReadonlySet<string>
}

/** The values of an input that matter, in one line. */
export function InputDigest({ tool, input, varying }: Props) {
  const { t } = useTranslation('form')
  const locale = useLocale()
  const place = useMemo(() => Place.top(tool?.input_schema ?? {}, tool?.form_spec), [tool])
  const { values, more } = useMemo(
    () => digest(place, input, { t, locale }, varying),
    [place, input, t, locale, varying],
  )
  if (values.length === 0) return <span className="text-muted">{t('read.usual')}</span>
  return (
    <span className="wrap-anywhere">
      {values.map(({ name, label, text }, index) => (
        <span key={name}>
          {index > 0 && <span className="text-muted"> · </span>}
          <span className="text-muted">{label}</span> <span>{text}</span>
        </span>
      ))}
      {more > 0 && <span className="text-muted"> · {t('read.more', { count: more })}</span>}
    </span>
  )
}
