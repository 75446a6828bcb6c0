import { Link } from '@tanstack/react-router'
import { Download, TriangleAlert } from 'lucide-react'
import { useState } from 'react'

import { useTranslation } from '~/i18n'
import { errorWords } from '~/i18n/server-words'
import { Button } from '~/kit/button'
import { toast } from '~/kit/toast'
import { type Imported, importTools, type McpServerDetail, type RemoteTool } from './queries'
import { Status } from './status'

interface Props {
  server: McpServerDetail
  mayImport: boolean
}

/** The tools of a server, to be chosen and imported. */
export function RemoteTools({ server, mayImport }: Props) {
  const { t } = useTranslation('mcp-servers')
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  const [publish, setPublish] = useState(false)
  const [isBusy, setBusy] = useState(false)
  const [made, setMade] = useState<Imported>()
  const open = server.tools.filter(({ status }) => status === 'new').map(({ name }) => name)
  const picked = open.filter((name) => chosen.has(name))
  const choose = (name: string, isChosen: boolean) => {
    const next = new Set(chosen)
    if (isChosen) next.add(name)
    else next.delete(name)
    setChosen(next)
  }
  const go = async () => {
    if (isBusy || picked.length === 0) return
    setBusy(true)
    try {
      const done = await importTools(server.id, picked, publish)
      setMade(done)
      setChosen(new Set())
      toast(t('imported', { count: done.items.length }))
    } catch (error) {
      toast(errorWords(error), 'bad')
    } finally {
      setBusy(false)
    }
  }
  if (server.tools.length === 0) return <p className="text-muted">{t('no_tools')}</p>
  return (
    <div className="grid min-w-0 grid-cols-[minmax(0,1fr)] gap-4">
      {mayImport && open.length > 0 && (
        <label className="flex items-center gap-2 justify-self-start">
          <input
            type="checkbox"
            checked={picked.length === open.length}
            onChange={({ target }) => setChosen(new Set(target.checked ? open : []))}
          />
          {t('choose_all', { count: open.length })}
        </label>
      )}
      <ul className="grid min-w-0 divide-y divide-line rounded-lg border border-line">
        {server.tools.map((tool) => (
          <li key={tool.name} className="min-w-0 p-3">
            <Line
              tool={tool}
              isChosen={chosen.has(tool.name)}
              onChoose={mayImport ? (isChosen) => choose(tool.name, isChosen) : undefined}
            />
          </li>
        ))}
      </ul>
      {mayImport && open.length > 0 && (
        <div className="flex flex-wrap items-center justify-end gap-3">
          <label className="flex items-center gap-2">
            <input
              type="checkbox"
              checked={publish}
              onChange={({ target }) => setPublish(target.checked)}
            />
            {t('publish')}
          </label>
          <Button tone="primary" disabled={isBusy || picked.length === 0} onClick={() => void go()}>
            <Download aria-hidden />
            {picked.length === 0 ? t('import_tools') : t('import', { count: picked.length })}
          </Button>
        </div>
      )}
      <div aria-live="polite">{made && made.skipped.length > 0 && <Skipped made={made} />}</div>
    </div>
  )
}

interface LineProps {
  tool: RemoteTool
  isChosen: boolean
  onChoose?: (isChosen: boolean) => void
}

function Line({ tool, isChosen, onChoose }: LineProps) {
  const { t } = useTranslation('mcp-servers')
  const title = <span className="font-medium break-all">{tool.title || tool.name}</span>
  return (
    <div className="grid min-w-0 gap-1">
      <div className="flex flex-wrap items-center justify-between gap-2">
        {tool.status === 'new' && onChoose ? (
          <label className="flex min-w-0 items-center gap-2">
            <input
              type="checkbox"
              checked={isChosen}
              onChange={({ target }) => onChoose(target.checked)}
            />
            {title}
          </label>
        ) : (
          title
        )}
        <span className="flex flex-wrap items-center gap-2">
          {tool.slug && (
            <Link
              to="/tools/$slug"
              params={{ slug: tool.slug }}
              className="font-mono text-xs break-all underline underline-offset-2"
            >
              {tool.slug}
            </Link>
          )}
          <Status status={tool.status} />
        </span>
      </div>
      {tool.description && (
        <p className="max-h-32 overflow-y-auto text-sm break-words whitespace-pre-wrap text-muted">
          {tool.description}
        </p>
      )}
      {!tool.listed && <p className="text-sm text-warn">{t('gone')}</p>}
      {tool.warnings.length > 0 && (
        <ul className="grid gap-1 rounded-md bg-warn-soft p-2 text-sm text-warn">
          {tool.warnings.map(({ path, code }) => (
            <li key={path + code} className="flex items-start gap-2">
              <TriangleAlert aria-hidden className="mt-0.5 size-4 shrink-0" />
              <span className="min-w-0 break-words">
                <code>{path}</code> {t(`warning.${code}`)}
              </span>
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}

function Skipped({ made }: { made: Imported }) {
  const { t } = useTranslation('mcp-servers')
  return (
    <div className="grid gap-2 rounded-lg border border-warn bg-warn-soft p-3">
      <p className="font-medium text-warn">{t('skipped', { count: made.skipped.length })}</p>
      <ul className="grid gap-1">
        {made.skipped.map(({ tool, reason }) => (
          <li key={tool} className="break-words">
            <code>{tool}</code>: {reason}
          </li>
        ))}
      </ul>
    </div>
  )
}
