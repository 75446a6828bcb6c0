import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Play, Plus } from 'lucide-react'
import { useState } from 'react'

import { useMay } from '~/api/me'
import { useTranslation } from '~/i18n'
import { Button } from '~/kit/button'
import { Field, Select } from '~/kit/field'
import { Empty, Fault, Skeleton } from '~/kit/states'
import { useEditing } from '../editor/context'
import { versionsOf } from '../queries'
import type { Tool, Version } from '../types'
import { CaseDialog } from './case-dialog'
import { CaseRow } from './case-row'
import { type CaseReport, type CaseResult, casesOf, type SentCase, useRunCases } from './queries'
import { RemoveCase } from './remove-case'
import { ReplayPart } from './replay-part'
import { contentOf, stateOf } from './state'

const NEW: SentCase = { name: '', input: {}, expect: {} }

/** What the author expects of the tool, and whether it holds. */
export default function CasesTab({ tool }: { tool: Tool }) {
  const { t } = useTranslation('cases')
  const { isDirty } = useEditing()
  const { data: cases, error, refetch } = useQuery(casesOf(tool.slug))
  const history = useInfiniteQuery(versionsOf(tool.slug))
  const entries = history.data?.pages.flatMap((page) => page.items) ?? []
  const [editing, setEditing] = useState<SentCase & { id?: string }>()
  const [removing, setRemoving] = useState<SentCase & { id: string }>()
  const [against, setAgainst] = useState('')
  const run = useRunCases(tool.slug)
  const [results, setResults] = useState<ReadonlyMap<string, CaseResult>>(new Map())
  const mayRun = useMay('tools.tenant.run')
  const content = contentOf(tool, entries)
  if (error && !cases) return <Fault error={error} onRetry={() => void refetch()} />
  if (!cases) return <Skeleton className="h-40" />

  const start = (ids?: string[]) => {
    const trial = { against: against || undefined, ids }
    run.mutate(trial, {
      onSuccess: ({ items }) =>
        setResults((before) => new Map([...before, ...items.map((one) => [one.id, one] as const)])),
    })
  }
  const choose = (version: string) => {
    setAgainst(version)
    // What came of another version says nothing about this one.
    setResults(new Map())
    run.reset()
  }
  const isRunning = (id: string) => {
    const ids = run.variables?.ids
    return run.isPending && (ids === undefined || ids.includes(id))
  }
  return (
    <section aria-labelledby="cases" className="grid min-w-0 gap-4">
      <div className="flex flex-wrap items-end justify-between gap-3">
        <div className="grid min-w-0 gap-1">
          <h2 id="cases" className="text-base font-semibold">
            {t('title')}
          </h2>
          <p className="max-w-prose text-muted">{t('explained')}</p>
        </div>
        {cases.length > 0 && (
          <div className="flex flex-wrap items-end gap-2">
            {mayRun && (
              <>
                <Field id="cases-against" label={t('against')}>
                  <Select
                    id="cases-against"
                    className="w-44"
                    value={against}
                    onChange={(event) => choose(event.target.value)}
                  >
                    <option value="">{t(tool.has_draft ? 'draft' : 'as_saved')}</option>
                    {numbersIn(entries).map((number) => (
                      <option key={number} value={number}>
                        {number}
                      </option>
                    ))}
                  </Select>
                </Field>
                <Button tone="primary" disabled={run.isPending} onClick={() => start()}>
                  <Play aria-hidden />
                  {t(run.isPending ? 'running' : 'run_all')}
                </Button>
              </>
            )}
            <Button onClick={() => setEditing(NEW)}>
              <Plus aria-hidden />
              {t('add')}
            </Button>
          </div>
        )}
      </div>
      {isDirty && cases.length > 0 && <p className="text-xs text-muted">{t('save_first')}</p>}
      {run.error && <Fault error={run.error} />}
      <p aria-live="polite" className="font-medium empty:hidden">
        {run.data && <Counts report={run.data} />}
      </p>
      {cases.length === 0 ? (
        <Empty title={t('none')}>
          <div className="grid justify-items-center gap-3">
            <p>{t('none_hint')}</p>
            <Button tone="primary" onClick={() => setEditing(NEW)}>
              <Plus aria-hidden />
              {t('add_first')}
            </Button>
          </div>
        </Empty>
      ) : (
        <ul className="grid min-w-0 gap-2">
          {cases.map((one) => (
            <CaseRow
              key={one.id}
              of={one}
              state={stateOf(one, content, results.get(one.id))}
              result={results.get(one.id)}
              isRunning={isRunning(one.id)}
              onRun={mayRun ? () => !run.isPending && start([one.id]) : undefined}
              onEdit={() => setEditing(one)}
              onRemove={() => setRemoving(one)}
            />
          ))}
        </ul>
      )}
      <section aria-labelledby="replay" className="grid min-w-0 gap-2">
        <h2 id="replay" className="text-base font-semibold">
          {t('replay.title')}
        </h2>
        <ReplayPart tool={tool} />
      </section>
      {editing && (
        <CaseDialog
          tool={tool}
          of={editing}
          onClose={() => setEditing(undefined)}
          onSaved={({ id }) =>
            setResults((before) => new Map([...before].filter(([other]) => other !== id)))
          }
        />
      )}
      {removing && (
        <RemoveCase slug={tool.slug} of={removing} onClose={() => setRemoving(undefined)} />
      )}
    </section>
  )
}

/** The numbers under which something was published or named, newest first. */
function numbersIn(entries: readonly Version[]): string[] {
  const named = entries.filter(({ kind, withdrawn_at }) => kind !== 'save' && !withdrawn_at)
  return [...new Set(named.map(({ version }) => version))]
}

function Counts({ report: { passed, failed } }: { report: CaseReport }) {
  const { t } = useTranslation('cases')
  if (failed === 0) return t('all_passed', { count: passed })
  return `${t('some_failed', { count: failed })} ${t('some_passed', { count: passed })}`
}
