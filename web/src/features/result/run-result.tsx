import { Braces } from 'lucide-react'
import { useMemo, useState } from 'react'

import { hasEnded, tookInAll } from '~/api/runs'
import { isTranslated } from '~/api/translated'
import { useTranslation } from '~/i18n'
import { Button } from '~/kit/button'
import { duration } from '~/kit/time'
import { blocks, currencyOf, type Shown } from './blocks'
import { parted } from './contents'
import { ContentsView } from './contents-view'
import { AroundOutput } from './context'
import { Output } from './output'
import { Raw } from './raw'
import { RunError } from './run-error'
import { RunLogs } from './run-logs'
import { RunStatus } from './run-status'

/** A run, as `GET /api/runs/{id}` and the call itself answer; no more of it than is shown. */
export interface ShownRun {
  status: string
  tool?: string
  output?: unknown
  summary?: string | null
  markdown?: string | null
  error?: string | null
  error_code?: string | null
  effect?: string | null
  duration_ms?: number | null
  started_at?: string | null
  finished_at?: string | null
  logs?: string[]
}

export interface RunResultProps {
  run: ShownRun
  /** How the tool wants its outputs shown; without it they are shown by their own shape. */
  tool?: Shown
  /** The level of the headings inside. */
  level?: 2 | 3 | 4
}

/** What came of a run. */
export function RunResult({ run, tool, level = 3 }: RunResultProps) {
  const { t, language } = useTranslation('result')
  const [raw, setRaw] = useState(false)
  const { status, output, summary, markdown, error, error_code } = run
  const { data, blocks: contents } = useMemo(() => parted(output), [output])
  const duration_ms = tookInAll(run) ?? run.duration_ms
  const name = tool?.slug ?? run.tool ?? 'result'
  const around = useMemo(
    () => ({ currency: currencyOf(output), name, level }),
    [output, name, level],
  )
  // The tool wrote its sentence in its own language and numbers; beside a translated result it stands apart.
  const isForeign = useMemo(
    () => !!tool && isTranslated(tool, language) && blocks(tool, output).length > 0,
    [tool, output, language],
  )
  const hasOutput = output !== null && output !== undefined
  // Without an output, the sentence of a failed run is its error once more.
  const saysError = !hasOutput && Boolean(error || error_code)
  return (
    <AroundOutput value={around}>
      <div className="grid min-w-0 gap-5">
        <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
          <RunStatus run={run} />
          {hasEnded(status) && typeof duration_ms === 'number' && (
            <span className="text-xs text-muted">
              {duration_ms < 1 ? t('took_no_time') : t('took', { time: duration(duration_ms) })}
            </span>
          )}
          {hasOutput && (
            <Button
              size="small"
              tone="quiet"
              className="ml-auto"
              aria-pressed={raw}
              onClick={() => setRaw(!raw)}
            >
              <Braces aria-hidden />
              {t('raw')}
            </Button>
          )}
        </div>
        {(error || error_code) && (
          <RunError
            code={error_code}
            text={error}
            effect={run.effect}
            wanted={status === 'cancelled'}
          />
        )}
        {summary && !saysError && <Summary text={summary} isForeign={isForeign} />}
        {hasOutput &&
          (raw ? (
            <Raw value={output} name={t('raw')} />
          ) : (
            <Output output={data} markdown={markdown} tool={tool} />
          ))}
        {!raw && contents.length > 0 && <ContentsView blocks={contents} />}
        {run.logs && run.logs.length > 0 && <RunLogs lines={run.logs} />}
        {status === 'success' && !hasOutput && <p className="text-muted">{t('no_output')}</p>}
      </div>
    </AroundOutput>
  )
}

function Summary({ text, isForeign }: { text: string; isForeign: boolean }) {
  const { t } = useTranslation('result')
  if (!isForeign) return <p className="text-base break-words whitespace-pre-wrap">{text}</p>
  return (
    <details>
      <summary className="cursor-pointer text-xs text-muted">{t('in_its_own_words')}</summary>
      <p className="mt-1 break-words whitespace-pre-wrap text-muted">{text}</p>
    </details>
  )
}
