import { useMutation } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { CircleCheck, CircleDashed, CircleX, History } from 'lucide-react'

import { api, body } from '~/api/client'
import { useMay } from '~/api/me'
import { Problem } from '~/api/problem'
import type { components } from '~/api/schema'
import { useTranslation } from '~/i18n'
import { refusalWords } from '~/i18n/server-words'
import { Badge } from '~/kit/badge'
import { Button } from '~/kit/button'
import { Fault } from '~/kit/states'
import { Moment } from '~/kit/time'
import type { Tool } from '../types'
import { DiffTable } from './case-parts'

type Report = components['schemas']['ReplayReport']
type Replayed = components['schemas']['ReplayedCall']

const LOOKS = {
  same: { tone: 'good', Icon: CircleCheck },
  different: { tone: 'bad', Icon: CircleX },
  not_replayed: { tone: 'plain', Icon: CircleDashed },
} as const

/** What calls without effects can be made of again. */
const HARMLESS = new Set(['read', 'draft'])

/** Makes recorded calls again with the draft, on demand, and shows those that differ. */
export function ReplayPart({ tool }: { tool: Tool }) {
  const { t } = useTranslation('cases')
  const mayRun = useMay('tools.tenant.run')
  const replay = useMutation({
    mutationFn: () => {
      const params = { path: { tool: tool.slug } }
      return body(api.POST('/api/tools/{tool}/replay', { params, body: { version: 'draft' } }))
    },
  })
  if (!HARMLESS.has(tool.permission_level ?? '') && !tool.execution.is_pure) {
    return <p className="text-muted">{t('replay.has_effects')}</p>
  }
  return (
    <div className="grid min-w-0 gap-3">
      <p className="max-w-prose text-muted">{t('replay.explained')}</p>
      {mayRun && (
        <Button
          size="small"
          className="justify-self-start"
          disabled={replay.isPending}
          onClick={() => replay.mutate()}
        >
          <History aria-hidden />
          {t(replay.isPending ? 'replay.running' : 'replay.run')}
        </Button>
      )}
      {replay.error && <Fault error={replay.error} />}
      <p aria-live="polite" className="font-medium empty:hidden">
        {replay.data && <Counts report={replay.data} />}
      </p>
      {replay.data && <Differing items={replay.data.items} />}
    </div>
  )
}

function Counts({ report: { same, different, not_replayed, items } }: { report: Report }) {
  const { t } = useTranslation('cases')
  if (items.length === 0) return t('replay.none')
  const counts = { different, same, not_replayed }
  return Object.entries(counts)
    .filter(([, count]) => count > 0)
    .map(([name, count]) => t(`replay.count.${name}`, { count }))
    .join(' ')
}

/** Every call that did not give the same. */
function Differing({ items }: { items: Replayed[] }) {
  const others = items.filter(({ same }) => !same)
  if (others.length === 0) return null
  return (
    <ul className="grid min-w-0 gap-2">
      {others.map((one) => (
        <Row key={one.run_id} of={one} />
      ))}
    </ul>
  )
}

/** Why a call was not replayed, by its code; what is not known here stays as it came. */
function useWhy() {
  const { t } = useTranslation('cases')
  return ({ reason, reason_code: code, reason_params }: Replayed) => {
    if (!code || !reason) return reason
    const params: Record<string, unknown> = reason_params
    // The codes of errors are written in capitals.
    if (/^[A-Z]/.test(code)) {
      return refusalWords(new Problem(0, code, reason, [], undefined, params))
    }
    const values = Object.entries(params).map(([name, value]) => [name, [value].flat().join(', ')])
    return t(`replay.reason.${code}`, { ...Object.fromEntries(values), defaultValue: reason })
  }
}

function Row({ of }: { of: Replayed }) {
  const { t } = useTranslation('cases')
  const why = useWhy()
  const state = of.same === false ? 'different' : 'not_replayed'
  const { tone, Icon } = LOOKS[state]
  return (
    <li className="grid min-w-0 gap-2 rounded-lg border border-line p-3">
      <p className="flex min-w-0 flex-wrap items-center gap-2">
        <Badge tone={tone}>
          <Icon aria-hidden />
          {t(`replay.state.${state}`)}
        </Badge>
        <RunLink id={of.run_id} label={t('replay.recorded', { version: of.version })} />
        <Moment at={of.at} />
        {of.replay_run_id && <RunLink id={of.replay_run_id} label={t('replay.again')} />}
      </p>
      {of.reason && <p className="break-words text-muted">{why(of)}</p>}
      {of.diff.length > 0 && (
        <DiffTable of={t('replay.recorded', { version: of.version })} diff={of.diff} />
      )}
    </li>
  )
}

function RunLink({ id, label }: { id: string; label: string }) {
  return (
    <Link to="/runs/$id" params={{ id }} className="text-accent underline underline-offset-2">
      {label}
    </Link>
  )
}
