import { Link } from '@tanstack/react-router'
import { CircleAlert } from 'lucide-react'

import { useTranslation } from '~/i18n'
import { Badge } from '~/kit/badge'
import { Switch } from '~/kit/switch'
import { ToolIcon } from '~/kit/tool-icon'
import { DraftMark, StatusBadge, useReason } from '../badges'
import type { ToolItem } from '../types'
import { useSwitch } from './use-switch'

const head = 'px-3 py-2 text-left text-xs font-medium text-muted'
const cell = 'px-3 py-2.5 align-middle'

export function ToolsTable({ tools, canSwitch }: { tools: ToolItem[]; canSwitch: boolean }) {
  const { t } = useTranslation('admin')
  return (
    <div className="overflow-hidden rounded-lg border border-line">
      <table className="w-full table-fixed">
        <caption className="sr-only">{t('list.title')}</caption>
        <thead className="border-b border-line bg-raised">
          <tr>
            <th scope="col" className={head}>
              {t('list.tool')}
            </th>
            <th scope="col" className={`${head} hidden w-36 md:table-cell`}>
              {t('list.kind')}
            </th>
            <th scope="col" className={`${head} hidden w-56 sm:table-cell`}>
              {t('list.status')}
            </th>
            <th scope="col" className={`${head} w-18 sm:w-28`}>
              {t('list.enabled')}
            </th>
            <th scope="col" className={`${head} w-18 sm:w-28`}>
              {t('list.active')}
            </th>
          </tr>
        </thead>
        <tbody className="divide-y divide-line">
          {tools.map((tool) => (
            <Row key={tool.id} tool={tool} canSwitch={canSwitch} />
          ))}
        </tbody>
      </table>
    </div>
  )
}

function Row({ tool, canSwitch }: { tool: ToolItem; canSwitch: boolean }) {
  const { t } = useTranslation('admin')
  const turn = useSwitch()
  const badges = (
    <>
      <StatusBadge status={tool.status} />
      <Badge>{tool.version}</Badge>
      <DraftMark tool={tool} />
    </>
  )
  return (
    <tr className="relative hover:bg-raised">
      <td className={cell}>
        <div className="flex items-start gap-3">
          <ToolIcon name={tool.icon} className="mt-0.5 size-4 shrink-0 text-muted" />
          <div className="grid min-w-0 gap-1">
            <Link
              from="/admin/tools"
              to="/admin/tools"
              search={(search) => ({ ...search, open: tool.slug })}
              className="font-medium break-words after:absolute after:inset-0 hover:underline"
            >
              {tool.name}
            </Link>
            <span className="font-mono text-xs wrap-anywhere text-muted">{tool.slug}</span>
            <div className="flex flex-wrap gap-1 sm:hidden">{badges}</div>
            <Unavailable reason={tool.unavailable_reason} />
          </div>
        </div>
      </td>
      <td className={`${cell} hidden text-muted md:table-cell`}>{t(`kind.${tool.kind}`)}</td>
      <td className={`${cell} hidden sm:table-cell`}>
        <div className="flex flex-wrap gap-1">{badges}</div>
      </td>
      <td className={cell}>
        <Switch
          aria-label={t('list.enabled_of', { name: tool.name })}
          className="relative z-10"
          checked={tool.enabled}
          disabled={!canSwitch}
          onChange={(on) => turn(tool, 'enabled', on)}
        />
      </td>
      <td className={cell}>
        <Switch
          aria-label={t('list.active_of', { name: tool.name })}
          className="relative z-10"
          checked={tool.is_active}
          disabled={!canSwitch}
          onChange={(on) => turn(tool, 'is_active', on)}
        />
      </td>
    </tr>
  )
}

// A draft says so by its badge already.
function Unavailable({ reason }: { reason?: string | null }) {
  const told = useReason()
  if (!reason || reason === 'draft') return null
  return (
    <p className="flex items-start gap-1 text-xs text-warn">
      <CircleAlert aria-hidden className="mt-0.5 size-3 shrink-0" />
      {told(reason)}
    </p>
  )
}
