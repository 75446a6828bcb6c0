import { useQueries } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Ban, CircleCheck, ShieldOff, TimerOff } from 'lucide-react'
import { useState } from 'react'

import { actorOf } from '~/api/actor'
import { useMay } from '~/api/me'
import { toolNow } from '~/api/tool-at'
import { type NamedValue, useValues, useValuesAt } from '~/features/form/read/use-values'
import { useTranslation } from '~/i18n'
import { Badge } from '~/kit/badge'
import { Button } from '~/kit/button'
import { Expiry } from '~/kit/expiry'
import { FactList } from '~/kit/facts'
import { ActorName } from '~/kit/people'
import { Moment } from '~/kit/time'
import { RevokeDialog } from './revoke-dialog'
import type { StandingApproval } from './standing-queries'
import type { AskingTool } from './use-tools'

const LOOKS = {
  active: { tone: 'good', Icon: CircleCheck },
  expired: { tone: 'plain', Icon: TimerOff },
  revoked: { tone: 'plain', Icon: Ban },
  void: { tone: 'warn', Icon: ShieldOff },
} as const

/** Standing approvals: whose calls run without a question, which, since when, and how often that was so. */
export function StandingList({ approvals }: { approvals: StandingApproval[] }) {
  const { t } = useTranslation('approvals')
  const [revoking, setRevoking] = useState<StandingApproval>()
  const decides = useMay('approvals.tenant.decide')
  const slugs = [...new Set(approvals.map(({ tool }) => tool))]
  const read = useQueries({ queries: slugs.map((slug) => toolNow(slug)) })
  const toolOf = (slug: string) => read[slugs.indexOf(slug)]?.data
  return (
    <>
      <ul aria-label={t('standing.title')} className="grid min-w-0 gap-3">
        {approvals.map((one) => (
          <Row
            key={one.id}
            of={one}
            tool={toolOf(one.tool)}
            onRevoke={decides && one.status === 'active' ? () => setRevoking(one) : undefined}
          />
        ))}
      </ul>
      {revoking && (
        <RevokeDialog
          of={revoking}
          tool={toolOf(revoking.tool)?.name ?? revoking.tool}
          onClose={() => setRevoking(undefined)}
        />
      )}
    </>
  )
}

interface RowProps {
  of: StandingApproval
  tool: AskingTool | undefined
  onRevoke: (() => void) | undefined
}

function Row({ of, tool, onRevoke }: RowProps) {
  const { t } = useTranslation('approvals')
  const name = tool?.name ?? of.tool
  return (
    <li className="grid min-w-0 gap-3 rounded-lg border border-line p-4">
      <div className="flex min-w-0 flex-wrap items-start justify-between gap-x-4 gap-y-2">
        <div className="flex min-w-0 flex-wrap items-center gap-x-3 gap-y-1">
          <h2 className="min-w-0 font-medium break-words">
            {t('standing.runs', { agent: of.agent, tool: name })}
          </h2>
          <Status status={of.status} />
        </div>
        {onRevoke && (
          <Button size="small" tone="danger" onClick={onRevoke}>
            <Ban aria-hidden />
            {t('standing.revoke')}
            <span className="sr-only">
              {' '}
              {of.agent}, {name}
            </span>
          </Button>
        )}
      </div>
      <div className="grid min-w-0 gap-1">
        <p className="text-xs text-muted">
          {t(of.fields ? 'standing.kept_some' : 'standing.kept_whole')}
        </p>
        {of.fields ? (
          <KeptFields values={of.values as Record<string, unknown>} tool={tool} />
        ) : (
          <KeptInput input={of.values} tool={tool} />
        )}
      </div>
      <p className="flex min-w-0 flex-wrap items-center gap-x-4 gap-y-1 text-xs text-muted">
        <span className="flex min-w-0 items-center gap-1">
          {t('standing.by')} <ActorName actor={actorOf(of.approved_by)} />
        </span>
        <Moment at={of.created_at} />
        <span>{t('standing.uses', { count: of.uses })}</span>
        {of.status === 'active' && <Expiry at={of.expires_at} />}
        <Link
          to="/tools/$slug"
          params={{ slug: of.tool }}
          search={{}}
          className="break-all text-accent underline underline-offset-2"
        >
          {of.tool}
        </Link>
      </p>
    </li>
  )
}

function KeptFields({ values, tool }: { values: Record<string, unknown>; tool: RowProps['tool'] }) {
  return <Values values={useValuesAt(tool, values)} />
}

function KeptInput({ input, tool }: { input: unknown; tool: RowProps['tool'] }) {
  return <Values values={useValues(tool, input)} />
}

function Values({ values }: { values: NamedValue[] }) {
  const { t } = useTranslation('approvals')
  if (values.length === 0) return <p>{t('standing.no_input')}</p>
  return <FactList facts={values.map(({ label, text }) => [label, text])} />
}

function Status({ status }: { status: string }) {
  const { t } = useTranslation('approvals')
  const { tone, Icon } = LOOKS[status as keyof typeof LOOKS] ?? LOOKS.expired
  return (
    <Badge tone={tone} title={t(`standing.status_hint.${status}`, { defaultValue: '' })}>
      <Icon aria-hidden />
      {t(`standing.status.${status}`, { defaultValue: status })}
    </Badge>
  )
}
