import { useQuery } from '@tanstack/react-query'

import type { Run } from '~/api/runs'
import { toolAt } from '~/api/tool-at'
import { ReadInput } from '~/features/form/read/read-input'
import { isObject } from '~/features/result/json'
import { Raw } from '~/features/result/raw'
import { useTranslation } from '~/i18n'

/** What a run was given: in the tool's own form where that can be had, else as JSON. */
export function RunInput({ run }: { run: Run }) {
  const { t } = useTranslation('runs')
  const { data: tool } = useQuery(toolAt(run.tool, run.version))
  return (
    <section aria-labelledby="input" className="grid min-w-0 content-start gap-3">
      <h2 id="input" className="text-base font-semibold">
        {t('input')}
      </h2>
      {tool && isObject(run.input) ? (
        <ReadInput tool={tool} value={run.input} />
      ) : (
        <Raw value={run.input ?? null} name={t('input')} />
      )}
    </section>
  )
}
