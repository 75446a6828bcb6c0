import { Link } from '@tanstack/react-router'
import { Star } from 'lucide-react'

import { useTranslation } from '~/i18n'
import { Button } from '~/kit/button'
import { cn } from '~/kit/cn'
import { ToolIcon } from '~/kit/tool-icon'
import type { ToolItem } from './library-queries'
import type { Shelf } from './shelf'

/** The tools at hand, above all others: favourites, and those opened last. */
export function Shelves({ tools, shelf }: { tools: ToolItem[]; shelf: Shelf }) {
  const { t } = useTranslation('library')
  const bySlug = new Map(tools.map((tool) => [tool.slug, tool]))
  const shelves = [
    ['favourites', shelf.favourites],
    ['recent', shelf.recent.filter((slug) => !shelf.favourites.includes(slug))],
  ] as const
  return shelves.map(([name, slugs]) => {
    const found = slugs.flatMap((slug) => bySlug.get(slug) ?? [])
    if (found.length === 0) return null
    return (
      <section key={name} aria-labelledby={`shelf-${name}`} className="grid min-w-0 gap-2">
        <h3 id={`shelf-${name}`} className="text-xs font-medium text-muted">
          {t(`shelf.${name}`)}
        </h3>
        <ul className="flex min-w-0 flex-wrap gap-2">
          {found.map((tool) => (
            <li key={tool.id} className="max-w-full min-w-0">
              <Button asChild size="small" className="max-w-full">
                <Link to="/tools/$slug" params={{ slug: tool.slug }} search={{}}>
                  <ToolIcon name={tool.icon} className="text-accent" />
                  <span className="min-w-0 truncate">{tool.name}</span>
                </Link>
              </Button>
            </li>
          ))}
        </ul>
      </section>
    )
  })
}

/** Puts a tool among the favourites, or takes it from there. It stands above the link that covers the card. */
export function FavouriteButton({ tool, shelf }: { tool: ToolItem; shelf: Shelf }) {
  const { t } = useTranslation('library')
  const isOn = shelf.favourites.includes(tool.slug)
  return (
    <Button
      tone="quiet"
      size="icon"
      className={cn('relative z-10 -m-1.5 shrink-0', isOn && 'text-accent')}
      aria-pressed={isOn}
      aria-label={t(`favourite.${isOn ? 'remove' : 'add'}`, { name: tool.name })}
      onClick={() => shelf.toggle(tool.slug)}
    >
      <Star aria-hidden className={isOn ? 'fill-current' : undefined} />
    </Button>
  )
}
