import { Link } from '@tanstack/react-router'

import { useTranslation } from '~/i18n'
import { LevelBadge } from '~/kit/level-badge'
import { ToolIcon } from '~/kit/tool-icon'
import { ToolStatusBadge, UnavailableBadge } from './library-badges'
import type { Health } from './library-health'
import { HealthStrip } from './library-health-strip'
import type { ToolItem } from './library-queries'
import { FavouriteButton } from './library-shelves'
import type { Shelf } from './shelf'

interface Props {
  tools: ToolItem[]
  health: Map<string, Health>
  shelf: Shelf
}

export function ToolGrid({ tools, health, shelf }: Props) {
  const { t } = useTranslation('library')
  return (
    <ul
      aria-label={t('tools')}
      className="grid grid-cols-[repeat(auto-fill,minmax(min(18rem,100%),1fr))] gap-3"
    >
      {tools.map((tool) => (
        <ToolCard key={tool.id} tool={tool} health={health.get(tool.slug)} shelf={shelf} />
      ))}
    </ul>
  )
}

interface CardProps {
  tool: ToolItem
  health: Health | undefined
  shelf: Shelf
}

function ToolCard({ tool, health, shelf }: CardProps) {
  return (
    <li className="relative flex min-w-0 flex-col gap-3 rounded-lg border border-line bg-ground p-4 focus-within:border-accent hover:border-line-strong hover:bg-raised">
      <div className="flex min-w-0 items-start gap-3">
        <span className="rounded-md bg-accent-soft p-2 text-accent">
          <ToolIcon name={tool.icon} className="size-5" />
        </span>
        <div className="min-w-0 flex-1">
          <h3 className="leading-snug font-semibold break-words">
            {/* The link covers the card, so that all of it can be clicked and one thing is named. */}
            <Link
              to="/tools/$slug"
              params={{ slug: tool.slug }}
              data-tool={tool.slug}
              search={{}}
              className="after:absolute after:inset-0 after:rounded-lg"
            >
              {tool.name}
            </Link>
          </h3>
          <p className="truncate text-xs text-muted">{tool.slug}</p>
        </div>
        <FavouriteButton tool={tool} shelf={shelf} />
      </div>
      <div className="min-w-0 flex-1">
        <p className="line-clamp-3 break-words text-muted">{opening(tool.description)}</p>
      </div>
      <div className="flex flex-wrap items-center gap-1.5">
        <LevelBadge level={tool.permission_level} />
        {/* Nearly all are published; what is not stands out. */}
        {tool.status !== 'published' && <ToolStatusBadge status={tool.status} />}
        <UnavailableBadge tool={tool} />
        {health && (
          <span className="ml-auto">
            <HealthStrip health={health} />
          </span>
        )}
      </div>
    </li>
  )
}

/** Descriptions are written for agents too; the first paragraph is the one for people. */
function opening(description: string): string {
  return description.split(/\n\s*\n/, 1)[0] ?? ''
}
