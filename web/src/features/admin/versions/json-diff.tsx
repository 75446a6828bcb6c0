import { useMemo } from 'react'

import { useTranslation } from '~/i18n'
import { cn } from '~/kit/cn'
import { ScrollBox } from '~/kit/scroll-box'
import { type DiffRow, folded, type Line, sideBySide } from './diff'

interface Props {
  /** What is compared. */
  label: string
  before: unknown
  after: unknown
}

/** Two values as JSON, side by side, with a sign at every line that differs. */
export function JsonDiff({ label, before, after }: Props) {
  const { t } = useTranslation('admin')
  const rows = useMemo(() => folded(sideBySide(written(before), written(after))), [before, after])
  if (rows.every(({ kind }) => kind === 'same' || kind === 'gap')) {
    return <p className="text-muted">{t('versions.same')}</p>
  }
  return (
    <ScrollBox label={label} className="max-h-[32rem]">
      <table className="w-full min-w-[40rem] table-fixed border-collapse font-mono text-xs">
        <thead className="sr-only">
          <tr>
            <th scope="col">{t('versions.from')}</th>
            <th scope="col">{t('versions.to')}</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            // oxlint-disable-next-line react/no-array-index-key
            <Row key={index} row={row} />
          ))}
        </tbody>
      </table>
    </ScrollBox>
  )
}

function Row({ row }: { row: DiffRow }) {
  const { t } = useTranslation('admin')
  if (row.kind === 'gap') {
    return (
      <tr>
        <td colSpan={2} className="bg-raised px-3 py-1 text-muted">
          {t('versions.left_out', { count: row.count })}
        </td>
      </tr>
    )
  }
  const isGone = row.kind === 'removed' || row.kind === 'changed'
  const isNew = row.kind === 'added' || row.kind === 'changed'
  return (
    <tr>
      <Cell line={row.left} sign={isGone ? '−' : ' '} look={isGone ? 'bg-bad-soft text-bad' : ''} />
      <Cell
        line={row.right}
        sign={isNew ? '+' : ' '}
        look={isNew ? 'bg-good-soft text-good' : ''}
      />
    </tr>
  )
}

function Cell({ line, sign, look }: { line?: Line; sign: string; look: string }) {
  return (
    <td
      className={cn(
        'border-r border-line px-2 py-0.5 align-top last:border-r-0',
        line ? look : 'bg-raised',
      )}
    >
      {line && (
        <span className="break-words whitespace-pre-wrap">
          {sign} {line.text}
        </span>
      )}
    </td>
  )
}

/** In its own order: that of properties is what a form shows. */
function written(value: unknown): string {
  return JSON.stringify(value, null, 2) ?? ''
}
