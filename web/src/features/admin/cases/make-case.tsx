import { FlaskConical } from 'lucide-react'
import { useState } from 'react'

import { useMay } from '~/api/me'
import { hasEnded, type Run } from '~/api/runs'
import { useTranslation } from '~/i18n'
import { Button } from '~/kit/button'
import { lazyPart } from '~/kit/lazy-part'
import { isOfProgram, type Tool } from '../types'

const FromRun = lazyPart(
  () => import('./from-run'),
  (module) => module.default,
)

/** Offers authors to make a test case of a run. Tools of the program have none. */
export function MakeCase({ run, tool }: { run: Run; tool: Tool | undefined }) {
  const { t } = useTranslation('cases')
  const [isOpen, setOpen] = useState(false)
  const mayChange = useMay('tools.tenant.update')
  if (!mayChange || !tool || isOfProgram(tool) || !hasEnded(run.status)) return null
  return (
    <>
      <Button onClick={() => setOpen(true)}>
        <FlaskConical aria-hidden />
        {t('make_of_run')}
      </Button>
      {isOpen && <FromRun run={run} tool={tool} onClose={() => setOpen(false)} />}
    </>
  )
}
