import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'

import { translated } from '~/api/translated'
import { useTranslation } from '~/i18n'
import { CopyButton } from '~/kit/copy'
import { Dialog } from '~/kit/dialog'
import { Fault, Loading } from '~/kit/states'
import { DraftMark, StatusBadge } from '../badges'
import { toolOf } from '../queries'
import type { Tool } from '../types'
import { Access } from './access'
import { Actions } from './actions'
import { Facts } from './facts'
import { History } from './history'
import { UsedBy } from './used-by'

/** All there is to know about a tool, and what can be done with it. */
export function ToolDrawer({ slug, onClose }: { slug: string; onClose: () => void }) {
  const { language } = useTranslation()
  const { data: tool, error, refetch } = useQuery(toolOf(slug))
  return (
    <Dialog
      open
      as="drawer"
      title={tool ? translated(tool, language).name : slug}
      onClose={onClose}
    >
      {tool ? (
        <About tool={tool} onClose={onClose} />
      ) : error ? (
        <Fault error={error} onRetry={() => void refetch()} />
      ) : (
        <Loading />
      )}
    </Dialog>
  )
}

function About({ tool, onClose }: { tool: Tool; onClose: () => void }) {
  const { t } = useTranslation('admin')
  return (
    <div className="grid min-w-0 gap-6">
      <div className="grid gap-3">
        <div className="flex flex-wrap items-center gap-2">
          <StatusBadge status={tool.status} />
          <DraftMark tool={tool} />
          <span className="flex items-center font-mono text-xs break-all text-muted">
            {tool.slug}
            <CopyButton text={tool.slug} name={t('drawer.copy_slug')} />
          </span>
        </div>
        <p className="break-words whitespace-pre-line text-muted">{tool.description}</p>
        <Actions tool={tool} onGone={onClose} />
      </div>
      <Section title={t('drawer.facts')}>
        <Facts tool={tool} />
      </Section>
      <Section title={t('drawer.access')}>
        <Access slug={tool.slug} />
      </Section>
      <Section title={t('drawer.used_by')}>
        <UsedBy slug={tool.slug} />
      </Section>
      <Section title={t('drawer.history')}>
        <History tool={tool} />
      </Section>
      <Section title={t('drawer.schema')}>
        <Json name={t('editor.input')} value={tool.input_schema} />
        {tool.output_schema != null && (
          <Json name={t('editor.output')} value={tool.output_schema} />
        )}
      </Section>
    </div>
  )
}

function Section({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className="grid min-w-0 gap-2">
      <h3 className="font-semibold">{title}</h3>
      {children}
    </section>
  )
}

function Json({ name, value }: { name: string; value: unknown }) {
  const text = JSON.stringify(value, null, 2)
  return (
    <details className="rounded-md border border-line">
      <summary className="cursor-pointer px-3 py-2 font-medium">{name}</summary>
      <div className="grid gap-2 border-t border-line p-3">
        <div className="justify-self-end">
          <CopyButton text={text} name={name} />
        </div>
        <section aria-label={name} tabIndex={0} className="max-h-80 overflow-auto">
          <pre className="text-xs">{text}</pre>
        </section>
      </div>
    </details>
  )
}
