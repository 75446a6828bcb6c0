import { useMemo } from 'react'
import { useTranslation } from 'react-i18next'

import type { Shown } from '~/features/result/blocks'
import { AroundOutput } from '~/features/result/context'
import { Output } from '~/features/result/output'

interface Props {
  late: unknown
  tool?: Shown
}

/** The only thing in it, where an error was answered instead of a result. */
function errorIn(late: unknown) {
  const isAlone = typeof late === 'object' && late !== null && Object.keys(late).length === 1
  const said = isAlone && 'error' in late ? late.error : undefined
  return typeof said === 'string' ? said : undefined
}

/** What was answered when nobody waited for it any more. */
export function LateResult({ late, tool }: Props) {
  const { t } = useTranslation('runs')
  const error = errorIn(late)
  const around = useMemo(() => ({ name: tool?.slug ?? 'late', level: 4 as const }), [tool])
  return (
    <div className="mt-5 grid min-w-0 gap-3 rounded-lg border border-line bg-raised p-4">
      <h3 className="font-medium">{t('late.title')}</h3>
      <p className="text-muted">{t('late.text')}</p>
      {error !== undefined ? (
        <p className="break-words whitespace-pre-wrap text-bad">{error}</p>
      ) : (
        <AroundOutput value={around}>
          <Output output={late} tool={tool} />
        </AroundOutput>
      )}
    </div>
  )
}
