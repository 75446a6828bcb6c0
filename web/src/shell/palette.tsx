import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type KeyboardEvent, useEffect, useId, useRef, useState } from 'react'

import { api, body } from '~/api/client'
import { useMay } from '~/api/me'
import { recentRuns } from '~/api/runs'
import { translated } from '~/api/translated'
import { useTranslation } from '~/i18n'
import { cn } from '~/kit/cn'
import { Dialog } from '~/kit/dialog'
import { Input } from '~/kit/field'
import { Moment } from '~/kit/time'
import { type Group, matching, type Target } from './palette-items'

const TOOLS = 200

/** Goes to a page, a tool or a run by a few letters of its name. */
export default function Palette({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation('keys')
  const navigate = useNavigate()
  const [typed, setTyped] = useState('')
  const [place, setPlace] = useState(0)
  const id = useId()
  const list = useRef<HTMLDivElement>(null)
  const groups = useGroups()
    .map((group) => matching(group, typed))
    .filter(({ targets }) => targets.length > 0)
  const all = groups.flatMap(({ targets }) => targets)
  const current = Math.min(place, all.length - 1)
  useEffect(() => {
    list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: 'nearest' })
  }, [current, typed])

  const go = (target: Target | undefined) => {
    if (!target) return
    onClose()
    void navigate({ href: target.href })
  }
  const press = (event: KeyboardEvent) => {
    const to: Record<string, number> = {
      ArrowDown: (current + 1) % all.length,
      ArrowUp: (current - 1 + all.length) % all.length,
      Home: 0,
      End: all.length - 1,
    }
    if (event.key === 'Enter') go(all[current])
    else if (event.key in to && all.length > 0) setPlace(to[event.key] ?? 0)
    else return
    event.preventDefault()
  }

  return (
    <Dialog open onClose={onClose} title={t('palette_title')}>
      <div className="grid min-w-0 gap-3">
        <Input
          data-first
          role="combobox"
          aria-label={t('palette_search')}
          aria-expanded={all.length > 0}
          aria-controls={`${id}-list`}
          aria-activedescendant={all[current] && `${id}-${current}`}
          aria-autocomplete="list"
          autoComplete="off"
          placeholder={t('palette_search')}
          value={typed}
          onChange={(event) => {
            setTyped(event.target.value)
            setPlace(0)
          }}
          onKeyDown={press}
        />
        <p role="status" className={all.length > 0 ? 'sr-only' : 'text-muted'}>
          {all.length > 0 ? t('palette_found', { count: all.length }) : t('palette_none')}
        </p>
        <div
          ref={list}
          id={`${id}-list`}
          role="listbox"
          aria-label={t('palette_title')}
          className="max-h-[60dvh] min-w-0 overflow-y-auto"
        >
          {groups.map(({ name, targets }) => (
            <div key={name} role="group" aria-labelledby={`${id}-${name}`} className="mb-2">
              <p id={`${id}-${name}`} className="px-2 py-1 text-xs text-muted">
                {t(`palette.${name}`)}
              </p>
              {targets.map((target) => {
                const index = all.indexOf(target)
                return (
                  // The keys are those of the box above.
                  <div
                    key={target.id}
                    id={`${id}-${index}`}
                    role="option"
                    aria-selected={index === current}
                    className={cn(
                      'flex min-w-0 cursor-pointer items-baseline justify-between gap-3 rounded px-2 py-1.5',
                      index === current && 'bg-accent-soft text-accent',
                    )}
                    onPointerMove={() => setPlace(index)}
                    onClick={() => go(target)}
                  >
                    <span className="min-w-0 truncate font-medium">{target.label}</span>
                    {target.hint && (
                      <span className="min-w-0 shrink-0 truncate text-xs text-muted">
                        {name === 'runs' ? <Moment at={target.hint} /> : target.hint}
                      </span>
                    )}
                  </div>
                )
              })}
            </div>
          ))}
        </div>
      </div>
    </Dialog>
  )
}

/** Where this person can go. */
function useGroups(): Group[] {
  const { t, language } = useTranslation()
  const may = {
    decides: useMay('approvals.tenant.read'),
    answers: useMay('tools.tenant.run'),
    updates: useMay('tools.tenant.update'),
    creates: useMay('tools.tenant.create'),
    credentials: useMay('credentials.tenant.read'),
    servers: useMay('mcp_servers.tenant.read'),
    webhooks: useMay('webhooks.tenant.read'),
  }
  const { data: tools } = useQuery({
    queryKey: ['tools', 'palette'],
    queryFn: () => body(api.GET('/api/tools', { params: { query: { limit: TOOLS } } })),
    select: ({ items }) => items.map((tool) => translated(tool, language)),
    staleTime: 30_000,
  })
  const { data: runs } = useQuery(recentRuns)
  const pages: [boolean, string, string][] = [
    [true, 'tools', '/tools'],
    [may.decides, 'approvals', '/approvals'],
    [may.answers, 'answers', '/approvals/answers'],
    [true, 'runs', '/runs'],
    [may.updates, 'admin_tools', '/admin/tools'],
    [may.creates, 'tool_new', '/admin/tools/new'],
    [may.credentials, 'credentials', '/admin/credentials'],
    [may.servers, 'mcp_servers', '/admin/mcp-servers'],
    [may.webhooks, 'webhooks', '/admin/webhooks'],
    [true, 'docs', '/docs'],
    [true, 'api_docs', '/docs/api'],
  ]
  const names = new Map(tools?.map(({ slug, name }) => [slug, name]))
  return [
    {
      name: 'pages',
      targets: pages
        .filter(([isOpen]) => isOpen)
        .map(([, title, href]) => ({ id: href, label: t(`title.${title}`), href })),
    },
    {
      name: 'tools',
      targets: (tools ?? []).map(({ slug, name }) => {
        const href = `/tools/${encodeURIComponent(slug)}`
        return { id: href, label: name, hint: slug, href }
      }),
    },
    {
      name: 'runs',
      targets: (runs ?? []).map((run) => ({
        id: run.run_id,
        label: names.get(run.tool) ?? run.tool,
        hint: run.started_at ?? run.requested_at,
        href: `/runs/${run.run_id}`,
      })),
    },
  ]
}
