import { ChartColumn, Download, Table2 } from 'lucide-react'
import { type ReactNode, useId } from 'react'
import { useTranslation } from 'react-i18next'

import { Button } from '~/kit/button'
import { useAround } from './context'
import { download, fileName } from './download'
import type { Json } from './json'
import { csv, type Table } from './rows'

interface Props {
  label: string
  value: Json
  /** What goes into a CSV file; without it there is none. */
  table?: Table
  children: ReactNode
  /** Whether the picture is shown as a table, and how to change that. */
  asTable?: boolean
  onAsTable?: (asTable: boolean) => void
}

/** A part of the result: its heading, what can be done with it, and itself. */
export function Section({ value, table, children, asTable, onAsTable, ...rest }: Props) {
  const { t } = useTranslation('result')
  // The whole of an output has no name of its own.
  const label = rest.label || t('output')
  const { name, level } = useAround()
  const id = useId()
  const Heading = `h${level}` as const
  const save = (ending: 'csv' | 'json') => {
    const file = fileName([name, label], ending)
    if (ending === 'json') download(file, 'application/json', JSON.stringify(value, null, 2))
    else if (table) download(file, 'text/csv;charset=utf-8', csv(table))
  }
  const Other = asTable ? ChartColumn : Table2
  return (
    <div role="group" aria-labelledby={id} className="grid min-w-0 gap-2">
      <div className="flex flex-wrap items-center justify-between gap-x-3 gap-y-1">
        <Heading id={id} className="min-w-0 text-sm font-semibold break-words">
          {label}
        </Heading>
        <div className="flex flex-wrap gap-1">
          {onAsTable && (
            <Button size="small" tone="quiet" onClick={() => onAsTable(!asTable)}>
              <Other aria-hidden />
              {t(asTable ? 'as_chart' : 'as_table')}
              <span className="sr-only">: {label}</span>
            </Button>
          )}
          {table && <Save ending="CSV" label={label} onSave={() => save('csv')} />}
          <Save ending="JSON" label={label} onSave={() => save('json')} />
        </div>
      </div>
      {children}
    </div>
  )
}

function Save({ ending, label, onSave }: { ending: string; label: string; onSave: () => void }) {
  const { t } = useTranslation('result')
  return (
    <Button size="small" tone="quiet" aria-label={t('save_as', { label, ending })} onClick={onSave}>
      <Download aria-hidden />
      {ending}
    </Button>
  )
}
