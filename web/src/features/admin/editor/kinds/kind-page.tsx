import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import {
  Code,
  Combine,
  Cpu,
  FunctionSquare,
  Globe,
  type LucideIcon,
  MessageSquareReply,
  Package,
  Plug,
  Sparkles,
} from 'lucide-react'

import { useTranslation } from '~/i18n'
import { NEW_KINDS, type NewKind, type ToolEditorSearch } from '../../search'
import { functions } from './queries'

const ICONS: Record<NewKind, LucideIcon> = {
  http: Globe,
  prompt: Sparkles,
  composition: Combine,
  artifact: Code,
  mcp: Plug,
  function: FunctionSquare,
  external: Cpu,
  space: MessageSquareReply,
  internal: Package,
}

// What reads the same in every language.
const EXAMPLES: Partial<Record<NewKind, string>> = {
  http: 'GET https://api.example.com/cities/{{ input.city }}',
  composition: 'weather.now → confirm.action',
  artifact: 'export default (input) => input.lines.length',
  mcp: 'https://mcp.example.com/mcp → add',
  function: 'datetime_utils',
  internal: 'json_transform',
}

/** The first question about a new tool: what runs when it is called. */
export function KindPage({ search }: { search: ToolEditorSearch }) {
  const { t } = useTranslation(['kinds', 'admin'])
  const { data } = useQuery(functions)
  const kinds = NEW_KINDS.filter((kind) => kind !== 'function' || data?.length !== 0)
  return (
    <div className="grid max-w-5xl min-w-0 gap-5">
      <div className="grid gap-1">
        <Link
          to="/admin/tools"
          search={{}}
          className="justify-self-start text-xs text-muted hover:underline"
        >
          {t('admin:list.title')}
        </Link>
        <h1 className="text-lg font-semibold">{t('admin:editor.new_title')}</h1>
        <p className="text-muted">{t('pick')}</p>
      </div>
      <ul className="grid min-w-0 gap-3 sm:grid-cols-2 lg:grid-cols-3">
        {kinds.map((kind) => {
          const Icon = ICONS[kind]
          return (
            <li
              key={kind}
              className="relative grid min-w-0 content-start gap-2 rounded-lg border border-line p-4 hover:border-accent hover:bg-raised has-focus-visible:outline-2 has-focus-visible:outline-accent"
            >
              <span className="flex min-w-0 items-center gap-2">
                <Icon aria-hidden className="size-5 shrink-0 text-accent" />
                {/* All of the card leads on; the link is called by its name alone. */}
                <Link
                  to="/admin/tools/new"
                  search={{ ...search, kind }}
                  aria-describedby={`kind-${kind}-text`}
                  className="font-medium outline-none after:absolute after:inset-0"
                >
                  {t(`kind.${kind}.name`)}
                </Link>
              </span>
              <p id={`kind-${kind}-text`}>{t(`kind.${kind}.text`)}</p>
              <p className="rounded-md bg-sunken px-2 py-1.5 text-xs break-words text-muted">
                <span className="sr-only">{t('for_example')} </span>
                {EXAMPLES[kind] ? (
                  <code className="break-words">{EXAMPLES[kind]}</code>
                ) : (
                  t(`kind.${kind}.example`)
                )}
              </p>
            </li>
          )
        })}
      </ul>
    </div>
  )
}
