import type { Shown } from '~/features/result/blocks'
import { Said } from '~/features/result/said'
import { useTranslation } from '~/i18n'

interface Props {
  late: unknown
  tool?: Shown
}

/** What was answered when nobody waited for it any more. */
export function LateResult({ late, tool }: Props) {
  const { t } = useTranslation('runs')
  return (
    <div className="mt-5 grid min-w-0 gap-3 rounded-lg border border-line bg-raised p-4">
      <h3 className="font-medium">{t('late.title')}</h3>
      <p className="text-muted">{t('late.text')}</p>
      <Said said={late} tool={tool} level={4} />
    </div>
  )
}
