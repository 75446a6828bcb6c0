import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Play } from 'lucide-react'

import { useMay } from '~/api/me'
import { useTranslation } from '~/i18n'
import { Button } from '~/kit/button'
import { Fault, Skeleton } from '~/kit/states'
import { CaseBadge, DiffTable } from '../cases/case-parts'
import {
  type CaseReport,
  type CaseResult,
  casesOf,
  type TestCase,
  useRunCases,
} from '../cases/queries'
import { type CaseState, contentOf, stateOf } from '../cases/state'
import { versionsOf } from '../queries'
import type { Tool } from '../types'

interface Shown {
  of: Pick<TestCase, 'id' | 'name'>
  state: CaseState
  result: CaseResult | undefined
}

/** How the test cases stand against the draft: as the server just said, else as they ran here, else as it remembers. */
export function useTests(tool: Tool, refused: CaseReport | undefined) {
  const cases = useQuery(casesOf(tool.slug))
  const history = useInfiniteQuery(versionsOf(tool.slug))
  const run = useRunCases(tool.slug)
  const entries = history.data?.pages.flatMap((page) => page.items) ?? []
  const content = contentOf(tool, entries)
  const report = run.data ?? refused
  const shown = cases.data?.map((one): Shown => {
    const result = report?.items.find(({ id }) => id === one.id)
    return { of: one, result, state: stateOf(one, content, result) }
  })
  const failed = shown?.filter(({ state }) => state === 'failed').length ?? 0
  return { shown, failed, error: cases.error, run }
}

/** Levels whose test cases the server runs before it publishes. */
const RUN_BY_SERVER = new Set(['read', 'draft'])

interface Props {
  tool: Tool
  tests: ReturnType<typeof useTests>
  /** Whether it is published whatever the tests say. */
  ignores: boolean
  onIgnore: (ignores: boolean) => void
}

/** The test cases of the draft, each with what differs, and the choice to publish all the same. */
export function TestsPart({ tool, tests, ignores, onIgnore }: Props) {
  const { t } = useTranslation(['publish', 'cases'])
  const { shown, failed, error, run } = tests
  const mayRun = useMay('tools.tenant.run')
  if (error && !shown) return <Fault error={error} />
  if (!shown) return <Skeleton className="h-12" />
  if (shown.length === 0) return <p className="text-muted">{t('no_tests')}</p>
  const isRunByServer = RUN_BY_SERVER.has(tool.permission_level ?? '')
  return (
    <div className="grid min-w-0 gap-3">
      <p className="text-muted">{t(isRunByServer ? 'tests_run' : 'tests_not_run')}</p>
      <ul aria-live="polite" className="grid min-w-0 gap-2">
        {shown.map(({ of, state, result }) => (
          <li key={of.id} className="grid min-w-0 gap-2">
            <p className="flex min-w-0 flex-wrap items-center gap-2">
              <CaseBadge state={state} />
              <span className="min-w-0 break-words">{of.name}</span>
            </p>
            {result && result.diff.length > 0 && <DiffTable of={of.name} diff={result.diff} />}
          </li>
        ))}
      </ul>
      {run.error && <Fault error={run.error} />}
      {mayRun && (
        <Button
          size="small"
          className="justify-self-start"
          disabled={run.isPending}
          onClick={() => run.mutate({})}
        >
          <Play aria-hidden />
          {t(run.isPending ? 'cases:running' : 'run_tests')}
        </Button>
      )}
      {failed > 0 && (
        <label className="flex items-start gap-2 rounded-lg border border-bad bg-bad-soft p-3 text-bad">
          <input
            type="checkbox"
            className="mt-0.5 size-4 accent-bad"
            checked={ignores}
            onChange={(event) => onIgnore(event.target.checked)}
          />
          <span>{t('ignore_tests', { count: failed })}</span>
        </label>
      )}
    </div>
  )
}
