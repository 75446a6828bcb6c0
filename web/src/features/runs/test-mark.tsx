import { FlaskConical } from 'lucide-react'

import type { Run } from '~/api/runs'
import { useTranslation } from '~/i18n'
import { Badge } from '~/kit/badge'

/** Marks a run by which an author tried a tool. It says nothing about how the tool does in earnest. */
export function TestMark({ run }: { run: Pick<Run, 'mode'> }) {
  const { t } = useTranslation('runs')
  if (run.mode !== 'debug') return null
  return (
    <Badge>
      <FlaskConical aria-hidden />
      {t('mode.debug')}
    </Badge>
  )
}
