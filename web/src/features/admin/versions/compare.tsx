import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'

import { useLocale, useTranslation } from '~/i18n'
import { Field, Select } from '~/kit/field'
import { Fault, Skeleton } from '~/kit/states'
import { comparisonOf, revisionOf } from '../queries'
import type { ToolEditorSearch } from '../search'
import type { Tool, Version } from '../types'
import { Verdict } from './change-list'
import { JsonDiff } from './json-diff'
import { type Point, type Points, pointOf, pointsOf, type Save } from './points'

const route = getRouteApi('/inside/admin/tools/$slug/edit')

interface Props {
  tool: Tool
  entries: Version[]
  search: ToolEditorSearch
}

/** Two of all revisions side by side: whom the change breaks, and what exactly changed. */
export function Compare({ tool, entries, search }: Props) {
  const { t } = useTranslation('admin')
  const navigate = route.useNavigate()
  const points = pointsOf(tool, entries)
  const hasLive = points.now.length > 1
  // What never ran is compared with what it was before.
  const from = pointOf(points, search.from ?? (hasLive ? 'live' : String(tool.revision - 1)))
  const to = pointOf(points, search.to ?? 'draft')
  const choose = (which: 'from' | 'to', name: string) =>
    void navigate({ search: { ...search, [which]: name }, replace: true, resetScroll: false })
  return (
    <section className="grid min-w-0 gap-3">
      <h2 id="compare" tabIndex={-1} className="text-base font-semibold outline-none">
        {t('versions.compare')}
      </h2>
      {!hasLive && points.saves.length < 2 ? (
        <p className="text-muted">{t('versions.nothing_to_compare')}</p>
      ) : (
        <>
          <div className="flex flex-wrap gap-3">
            {[['from', from] as const, ['to', to] as const].map(([which, chosen]) => (
              <Choice
                key={which}
                id={`compare-${which}`}
                label={t(`versions.${which}`)}
                points={points}
                chosen={chosen}
                onChoose={(name) => choose(which, name)}
              />
            ))}
          </div>
          {from && to && <Between tool={tool} from={from} to={to} />}
        </>
      )}
    </section>
  )
}

interface ChoiceProps {
  id: string
  label: string
  points: Points
  chosen: Point | undefined
  onChoose: (name: string) => void
}

function Choice({ id, label, points, chosen, onChoose }: ChoiceProps) {
  const { t } = useTranslation('admin')
  const locale = useLocale()
  const time = new Intl.DateTimeFormat(locale, { dateStyle: 'short', timeStyle: 'short' })
  const isOlder = chosen !== undefined && !isAmong(points, chosen)
  const saved = ({ revision, version, created_at, published }: Save) =>
    t(published ? 'versions.save_published' : 'versions.save', {
      revision,
      version,
      time: time.format(new Date(created_at)),
    })
  return (
    <Field id={id} label={label}>
      <Select
        id={id}
        className="w-full sm:w-72"
        value={chosen?.name ?? ''}
        onChange={(event) => onChoose(event.target.value)}
      >
        {!chosen && <option value="">–</option>}
        {isOlder && (
          <option value={chosen.name}>
            {t('versions.revision', { revision: chosen.revision })}
          </option>
        )}
        {points.now.map(({ name }) => (
          <option key={name} value={name}>
            {t(`versions.${name}`)}
          </option>
        ))}
        {points.versions.length > 0 && (
          <optgroup label={t('versions.group_versions')}>
            {points.versions.map(({ name }) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </optgroup>
        )}
        <optgroup label={t('versions.group_saves')}>
          {points.saves.map((save) => (
            <option key={save.name} value={save.name}>
              {saved(save)}
            </option>
          ))}
        </optgroup>
      </Select>
    </Field>
  )
}

function isAmong({ now, versions, saves }: Points, { name }: Point): boolean {
  return [...now, ...versions, ...saves].some((point) => point.name === name)
}

/** What two points of a history mean to callers, and how they differ line by line. */
export function Between({ tool, from, to }: { tool: Tool; from: Point; to: Point }) {
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
