import { Link } from '@tanstack/react-router'
import { CircleAlert, GitMerge } from 'lucide-react'
import type { ReactNode } from 'react'

import { useMay } from '~/api/me'
import { useTranslation } from '~/i18n'
import { Button } from '~/kit/button'
import { Fault } from '~/kit/states'
import { isStale, usersIn } from './fault-words'
import type { Sending } from './use-sending'

interface Props {
  sending: Sending
  /** Whether a fault is told at its field. */
  isPlaced?: (path: string) => boolean
  /** Whether tools keep it from being renamed or from being removed. */
  act?: 'rename' | 'remove'
  onReload?: () => void
}

/** Why nothing was saved, as far as no field says it. */
export function Refusal({ sending, isPlaced, act = 'rename', onReload }: Props) {
  const { t } = useTranslation('credentials')
  const { problem, faults } = sending
  const users = usersIn(problem)
  if (users.length > 0) {
    return (
      <Box tone="bad" icon={<CircleAlert aria-hidden />} title={t(`used.${act}`)}>
        <ul className="grid gap-1">
          {users.map((slug) => (
            <li key={slug}>
              {slug.includes(' ') ? <ServerLink name={slug} /> : <ToolLink slug={slug} />}
            </li>
          ))}
        </ul>
      </Box>
    )
  }
  if (isStale(problem)) {
    return (
      <Box tone="warn" icon={<GitMerge aria-hidden />} title={t('stale')}>
        <p>{t('stale_hint')}</p>
        {onReload && (
          <div>
            <Button size="small" onClick={onReload}>
              {t('reload')}
            </Button>
          </div>
        )}
      </Box>
    )
  }
  const rest = faults.filter(({ path }) => !isPlaced?.(path))
  if (rest.length > 0) {
    return (
      <Box tone="bad" icon={<CircleAlert aria-hidden />} title={t('refused')}>
        <ul className="grid gap-1">
          {rest.map(({ path, message }) => (
            <li key={path + message} className="break-words">
              {path.length > 1 && <code>{path} </code>}
              {message}
            </li>
          ))}
        </ul>
      </Box>
    )
  }
  // What is told at a field is not told twice.
  return problem === undefined || faults.length > 0 ? null : <Fault error={problem} />
}

const TONES = {
  bad: { box: 'border-bad bg-bad-soft', head: 'text-bad' },
  warn: { box: 'border-warn bg-warn-soft', head: 'text-warn' },
}

interface BoxProps {
  tone: keyof typeof TONES
  icon: ReactNode
  title: string
  children: ReactNode
}

function Box({ tone, icon, title, children }: BoxProps) {
  return (
    <div role="alert" className={`grid min-w-0 gap-2 rounded-lg border p-4 ${TONES[tone].box}`}>
      <p
        className={`flex items-start gap-2 font-medium ${TONES[tone].head} [&_svg]:mt-0.5 [&_svg]:size-4 [&_svg]:shrink-0`}
      >
        {icon}
        <span className="min-w-0">{title}</span>
      </p>
      {children}
    </div>
  )
}

/** The way to the MCP servers, of which a name with a space is one. */
export function ServerLink({ name }: { name: string }) {
  return (
    <Link to="/admin/mcp-servers" className="break-words underline underline-offset-2">
      {name}
    </Link>
  )
}

/** The way to what a tool says about credentials, for those who may change tools. */
export function ToolLink({ slug, name }: { slug: string; name?: string }) {
  const text = name || slug
  if (!useMay('tools.tenant.update')) return <span className="break-words">{text}</span>
  return (
    <Link
      to="/admin/tools/$slug/edit"
      params={{ slug }}
      search={{ tab: 'execution' }}
      className="break-words underline underline-offset-2"
    >
      {text}
    </Link>
  )
}
