import { Link } from '@tanstack/react-router'
import { Eye, FilePen, Pencil, ShieldQuestion, TriangleAlert } from 'lucide-react'
import { Fragment } from 'react'

import { useMay } from '~/api/me'
import { humanise } from '~/features/result/words'
import { useTranslation } from '~/i18n'
import { Badge } from '~/kit/badge'
import { Button } from '~/kit/button'
import { ToolIcon } from '~/kit/tool-icon'
import type { Tool } from './queries'

/** What a tool is called, is for, and may do. */
export function ToolHeader({ tool }: { tool: Tool }) {
  const { t } = useTranslation('tool')
  const authors = useMay('tools.tenant.update')
  const [lead, ...more] = tool.description.split(/\n\s*\n/)
  return (
    <header className="grid min-w-0 grid-cols-[minmax(0,1fr)] gap-3">
      <nav aria-label={t('path')} className="text-muted">
        <Link to="/tools" search={{}} className="underline hover:text-text">
          {t('library')}
        </Link>
      </nav>
      <div className="flex min-w-0 flex-wrap items-start justify-between gap-3">
        <h1 className="flex min-w-0 items-center gap-3 text-2xl font-semibold">
          <span className="rounded-lg bg-accent-soft p-2 text-accent">
            <ToolIcon name={tool.icon} className="size-5" />
          </span>
          <span className="min-w-0 break-words">{tool.name}</span>
        </h1>
        {authors && (
          <Button asChild size="small">
            <Link to="/admin/tools/$slug/edit" params={{ slug: tool.slug }} search={{}}>
              <Pencil aria-hidden />
              {t('edit')}
            </Link>
          </Button>
        )}
      </div>
      <div className="flex flex-wrap gap-1.5">
        <Level level={tool.permission_level} />
        {agentsAsk(tool) && (
          <Badge tone="warn">
            <ShieldQuestion aria-hidden />
            {t('agents_ask')}
          </Badge>
        )}
        {tool.category && <Badge>{humanise(tool.category)}</Badge>}
        <Badge>{t('version', { version: tool.version })}</Badge>
        <Badge className="max-w-full font-mono">
          <span className="truncate">{tool.slug}</span>
        </Badge>
      </div>
      <div className="grid max-w-3xl gap-2">
        <p className="text-base break-words">
          <WithCode text={lead ?? ''} />
        </p>
        {more.length > 0 && (
          <details className="text-muted">
            <summary className="cursor-pointer">{t('when_to_use')}</summary>
            {more.map((paragraph, index) => (
              <p key={index} className="mt-2 break-words whitespace-pre-line">
                <WithCode text={paragraph} />
              </p>
            ))}
          </details>
        )}
      </div>
    </header>
  )
}

const LEVELS = {
  read: ['plain', Eye],
  draft: ['plain', FilePen],
  write: ['warn', Pencil],
  destructive: ['bad', TriangleAlert],
} as const

function Level({ level }: { level?: string | null }) {
  const { t } = useTranslation('tool')
  if (!level || !(level in LEVELS)) return null
  const [tone, Icon] = LEVELS[level as keyof typeof LEVELS]
  return (
    <Badge tone={tone}>
      <Icon aria-hidden />
      {t(`level.${level}`)}
    </Badge>
  )
}

/** Whether the calls of agents wait for a person. A person who presses the button has decided. */
export function agentsAsk({
  permission_level,
  permission_policy,
}: Pick<Tool, 'permission_level' | 'permission_policy'>): boolean {
  if (permission_level === 'destructive' || permission_policy === 'always_ask') return true
  return permission_policy !== 'auto' && permission_level === 'write'
}

/** Descriptions name other tools between backticks, for models; people see them as code. */
function WithCode({ text }: { text: string }) {
  return text.split('`').map((part, index) =>
    index % 2 === 1 ? (
      <code key={index} className="rounded bg-sunken px-1">
        {part}
      </code>
    ) : (
      <Fragment key={index}>{part}</Fragment>
    ),
  )
}
