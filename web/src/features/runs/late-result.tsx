import { useMemo } from 'react'
import { useTranslation } from 'react-i18next'

import type { Shown } from '~/features/result/blocks'
import { AroundOutput } from '~/features/result/context'
import { Output } from '~/features/result/output'
import type { Run } from './queries'

interface Props {
  late: NonNullable<Run['late_result']>
  tool?: Shown
}

/** What was answered when nobody waited for it any more. */
export function LateResult({ late, tool }: Props) {
  const { t } = useTranslation('runs')
  const around = useMemo(() => ({ name: tool?.slug ?? 'late', level: 4 as const }), [tool])
  return (
    <div className="mt-5 grid min-w-0 gap-3 rounded-lg border border-line bg-raised p-4">
      <h3 className="font-medium">{t('late.title')}</h3>
      <p className="text-muted">{t('late.text')}</p>
      {late.error !== undefined ? (
        <p className="break-words whitespace-pre-wrap text-bad">{late.error}</p>
      ) : (
        <AroundOutput value={around}>
          <Output output={late.result ?? null} tool={tool} />
        </AroundOutput>
      )}
    </div>
  )
}
