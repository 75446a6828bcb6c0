import { ArrowDown, ArrowUp, ChevronsUpDown } from 'lucide-react'
import { useMemo, useState } from 'react'

import { useLocale, useTranslation } from '~/i18n'
import { Button } from '~/kit/button'
import { cn } from '~/kit/cn'
import { ScrollBox } from '~/kit/scroll-box'
import type { Hints } from './hints'
import type { JsonObject } from './json'
import { type Sort, sorted, type Table } from './rows'
import { Value } from './value'
import { label } from './words'

/** More rows at once make a page slow to draw and slow to read. */
const PAGE = 100

/** Text this long needs a wide column, or its row gets as tall as the page. */
const LONG_TEXT = 30

interface Props {
  table: Table
  /** What is known about one row. */
  hints: Hints
  name?: string
}

/** Rows, sorted by the column that somebody clicks, some at a time. */
export function DataTable({ table: { columns, rows }, hints, name }: Props) {
  const { t } = useTranslation('result')
  const locale = useLocale()
  const [sort, setSort] = useState<Sort>()
  const [page, setPage] = useState(0)
  const ordered = useMemo(() => sorted(rows, sort, locale), [rows, sort, locale])
  const from = Math.min(page * PAGE, Math.floor((rows.length - 1) / PAGE) * PAGE)
  const shown = ordered.slice(from, from + PAGE)
  const order = (column: string) => {
    setPage(0)
    setSort(next(sort, column))
  }
  return (
    <div className="grid min-w-0 gap-2">
      <ScrollBox
        label={name ?? t('table')}
        role={name ? 'region' : 'group'}
        className="max-h-[32rem]"
      >
        <table className="w-full border-collapse text-left">
          <thead>
            <tr>
              {columns.map((column) => (
                <Head
                  key={column}
                  name={label(column, hints.below(column).hint)}
                  description={hints.below(column).hint.description}
                  numeric={isNumeric(rows, column)}
                  down={sort?.column === column ? sort.down : undefined}
                  onSort={() => order(column)}
                />
              ))}
            </tr>
          </thead>
          <tbody>
            {shown.map((row, index) => (
              <Row key={from + index} row={row} columns={columns} hints={hints} />
            ))}
          </tbody>
        </table>
      </ScrollBox>
      {rows.length > PAGE && (
        <div className="flex flex-wrap items-center gap-2 text-muted">
          <span aria-live="polite">
            {t('rows_shown', {
              from: from + 1,
              to: from + shown.length,
              count: rows.length,
            })}
          </span>
          <Button size="small" disabled={from === 0} onClick={() => setPage(from / PAGE - 1)}>
            {t('previous')}
          </Button>
          <Button
            size="small"
            disabled={from + PAGE >= rows.length}
            onClick={() => setPage(from / PAGE + 1)}
          >
            {t('next')}
          </Button>
        </div>
      )}
    </div>
  )
}

function next(sort: Sort | undefined, column: string): Sort | undefined {
  if (sort?.column !== column) return { column, down: false }
  return sort.down ? undefined : { column, down: true }
}

interface HeadProps {
  name: string
  description?: string
  numeric: boolean
  down?: boolean
  onSort: () => void
}

function Head({ name, description, numeric, down, onSort }: HeadProps) {
  const Icon = down === undefined ? ChevronsUpDown : down ? ArrowDown : ArrowUp
  const order = down === undefined ? 'none' : down ? 'descending' : 'ascending'
  return (
    <th
      scope="col"
      aria-sort={order}
      // The heads of eight columns of figures fit beside a form if they may break.
      className="sticky top-0 border-b border-line bg-raised p-0 align-bottom font-medium"
    >
      <button
        type="button"
        title={description}
        onClick={onSort}
        className={cn(
          'flex w-full items-center gap-1 px-2.5 py-2 text-left leading-tight -outline-offset-2',
          numeric && 'flex-row-reverse text-right',
        )}
      >
        {name}
        <Icon
          aria-hidden
          className={cn('size-3.5 shrink-0 text-muted', down !== undefined && 'text-accent')}
        />
      </button>
    </th>
  )
}

function Row({ row, columns, hints }: { row: JsonObject; columns: string[]; hints: Hints }) {
  return (
    <tr className="border-b border-line last:border-0">
      {columns.map((column) => {
        const value = row[column]
        return (
          <td
            key={column}
            className={cn('px-2.5 py-1.5 align-top', {
              'text-right whitespace-nowrap': typeof value === 'number',
              'max-w-96': typeof value !== 'number',
              'min-w-56': typeof value === 'string' && value.length > LONG_TEXT,
            })}
          >
            <Value value={value} hints={hints.below(column)} depth={3} />
          </td>
        )
      })}
    </tr>
  )
}

function isNumeric(rows: JsonObject[], column: string): boolean {
  const found = rows.slice(0, 20).map((row) => row[column] ?? null)
  return (
    found.some((value) => value !== null) &&
    found.every((value) => value === null || typeof value === 'number')
  )
}
