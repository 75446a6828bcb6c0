import { Link } from '@tanstack/react-router'

import { useTranslation } from '~/i18n'
import { LevelBadge } from '~/kit/level-badge'
import { ToolIcon } from '~/kit/tool-icon'
import { ToolStatusBadge, UnavailableBadge } from './library-badges'
import type { Health } from './library-health'
import { HealthStrip } from './library-health-strip'
import type { ToolItem } from './library-queries'

const COLUMNS = ['name', 'category', 'level', 'status', 'version', 'health'] as const

export function ToolTable({ tools, health }: { tools: ToolItem[]; health: Map<string, Health> }) {
  const { t } = useTranslation('library')
  return (
    <section
      aria-label={t('tools')}
      tabIndex={0}
      className="overflow-x-auto rounded-lg border border-line"
    >
      <table className="w-full min-w-3xl border-collapse text-left">
        <thead className="border-b border-line bg-raised text-xs text-muted">
          <tr>
            {COLUMNS.map((column) => (
              <th key={column} scope="col" className="px-3 py-2 font-medium">
                {t(`column.${column}`)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {tools.map((tool) => (
            <ToolRow key={tool.id} tool={tool} health={health.get(tool.slug)} />
          ))}
        </tbody>
      </table>
    </section>
  )
}

function ToolRow({ tool, health }: { tool: ToolItem; health: Health | undefined }) {
  return (
    <tr className="border-b border-line last:border-0 hover:bg-raised">
      <th scope="row" className="px-3 py-2 font-normal">
        <Link
          to="/tools/$slug"
          params={{ slug: tool.slug }}
          data-tool={tool.slug}
          search={{}}
          className="group flex items-center gap-2.5"
        >
          <ToolIcon name={tool.icon} className="text-accent" />
          <span className="grid min-w-0">
            <span className="font-medium break-words group-hover:underline">{tool.name}</span>
            <span className="text-xs wrap-anywhere text-muted">{tool.slug}</span>
          </span>
        </Link>
      </th>
      <td className="px-3 py-2">{tool.category}</td>
      <td className="px-3 py-2">
        <LevelBadge level={tool.permission_level} />
      </td>
      <td className="px-3 py-2">
        <span className="flex flex-wrap gap-1.5">
          <ToolStatusBadge status={tool.status} />
          <UnavailableBadge tool={tool} />
        </span>
      </td>
      <td className="px-3 py-2 tabular-nums">{tool.version}</td>
      <td className="px-3 py-2">
        <HealthStrip health={health} />
      </td>
    </tr>
  )
}
