import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { TriangleAlert } from 'lucide-react'
import { useTranslation } from 'react-i18next'

import { Badge } from '~/kit/badge'
import { Field, Select } from '~/kit/field'
import { Fault, Skeleton } from '~/kit/states'
import { comparisonOf, revisionOf } from '../queries'
import type { ToolEditorSearch } from '../search'
import type { Comparison, Tool, Version } from '../types'
import { JsonDiff } from './json-diff'
import { type Point, pointsOf } from './points'

const route = getRouteApi('/inside/admin/tools/$slug/edit')

interface Props {
  tool: Tool
  entries: Version[]
  search: ToolEditorSearch
}

/** Two versions side by side: whom the change breaks, and what exactly changed. */
export function Compare({ tool, entries, search }: Props) {
  const { t } = useTranslation('admin')
  const navigate = route.useNavigate()
  const points = pointsOf(tool, entries)
  const from = points.find(({ name }) => name === (search.from ?? 'live'))
  const to = points.find(({ name }) => name === (search.to ?? 'draft'))
  const nameOf = (name: string) =>
    name === 'live' || name === 'draft' ? t(`versions.${name}`) : name
  const choice = (which: 'from' | 'to', chosen?: Point) => (
    <Field id={`compare-${which}`} label={t(`versions.${which}`)}>
      <Select
        id={`compare-${which}`}
        className="w-56"
        value={chosen?.name ?? ''}
        onChange={(event) =>
          navigate({
            search: { ...search, [which]: event.target.value },
            replace: true,
            resetScroll: false,
          })
        }
      >
        {!chosen && <option value="">–</option>}
        {points.map(({ name }) => (
          <option key={name} value={name}>
            {nameOf(name)}
          </option>
        ))}
      </Select>
    </Field>
  )
  return (
    <section className="grid min-w-0 gap-3">
      <h2 className="text-base font-semibold">{t('versions.compare')}</h2>
      {points.length < 2 ? (
        <p className="text-muted">{t('versions.nothing_to_compare')}</p>
      ) : (
        <>
          <div className="flex flex-wrap gap-3">
            {choice('from', from)}
            {choice('to', to)}
          </div>
          {from && to && <Between tool={tool} from={from} to={to} />}
        </>
      )}
    </section>
  )
}

function Between({ tool, from, to }: { tool: Tool; from: Point; to: Point }) {
  const { t } = useTranslation('admin')
  const verdict = useQuery(comparisonOf(tool.slug, from.name, to.name))
  const before = useQuery(revisionOf(tool.slug, from.revision))
  const after = useQuery(revisionOf(tool.slug, to.revision))
  const error = verdict.error ?? before.error ?? after.error
  if (error) return <Fault error={error} />
  if (!verdict.data || !before.data || !after.data) return <Skeleton className="h-32" />
  return (
    <div className="grid min-w-0 gap-4">
      <Verdict comparison={verdict.data} />
      <JsonDiff
        label={t('versions.side_by_side')}
        before={before.data.snapshot}
        after={after.data.snapshot}
      />
    </div>
  )
}

function Verdict({ comparison }: { comparison: Comparison }) {
  const { t } = useTranslation('admin')
  const { breaking, required_bump, changes } = comparison
  return (
    <div className="grid gap-2" aria-live="polite">
      <p className="flex flex-wrap items-center gap-2">
        <Breaking is={breaking} />
        {t(`bump.${required_bump}`)}
      </p>
      {changes.length > 0 && (
        <ul className="grid gap-1.5">
          {changes.map(({ part, path, kind, breaking, message }) => (
            <li
              key={`${part}${path}${kind}${message}`}
              className="flex flex-wrap items-center gap-2"
            >
              <Breaking is={breaking} />
              <span className="text-muted">{t(`editor.${part}`)}</span>
              <code className="break-all">{path || '/'}</code>
              <span className="min-w-0 break-words">{message}</span>
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}

function Breaking({ is }: { is: boolean }) {
  const { t } = useTranslation('admin')
  return is ? (
    <Badge tone="bad">
      <TriangleAlert aria-hidden />
      {t('versions.breaking')}
    </Badge>
  ) : (
    <Badge tone="good">{t('versions.compatible')}</Badge>
  )
}
