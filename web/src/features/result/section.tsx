import { ChartColumn, Download, Table2 } from 'lucide-react'
import { type ReactNode, useId } from 'react'

import { useTranslation } from '~/i18n'
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
  /** The picture that is shown, if one is. */
  picture?: () => SVGElement | null | undefined
  children: ReactNode
  /** Whether the picture is shown as a table, and how to change that. */
  asTable?: boolean
  onAsTable?: (asTable: boolean) => void
}

/** Four of them fit beside each other on a phone. */
const tight = 'gap-1 px-1.5'

/** A part of the result: its heading, what can be done with it, and itself. */
export function Section({ value, table, picture, children, asTable, onAsTable, ...rest }: Props) {
  const { t } = useTranslation('result')
  // The whole of an output has no name of its own.
  const label = rest.label || t('output')
  const { name, level } = useAround()
  const id = useId()
  const Heading = `h${level}` as const
  const save = (ending: string, type: string, text: string) =>
    download(fileName([name, label], ending), type, text)
  const saveJson = () => save('json', 'application/json', JSON.stringify(value, null, 2))
  const saveCsv = () => table && save('csv', 'text/csv;charset=utf-8', csv(table))
  const savePicture = () => {
    const drawn = picture?.()
    if (drawn) save('svg', 'image/svg+xml', new XMLSerializer().serializeToString(drawn))
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
            <Button size="small" tone="quiet" className={tight} onClick={() => onAsTable(!asTable)}>
              <Other aria-hidden />
              {t(asTable ? 'as_chart' : 'as_table')}
              <span className="sr-only">: {label}</span>
            </Button>
          )}
          {picture && !asTable && <Save ending="SVG" label={label} onSave={savePicture} />}
          {table && <Save ending="CSV" label={label} onSave={saveCsv} />}
          <Save ending="JSON" label={label} onSave={saveJson} />
        </div>
      </div>
      {children}
    </div>
  )
}

function Save({ ending, label, onSave }: { ending: string; label: string; onSave: () => void }) {
  const { t } = useTranslation('result')
  return (
    <Button
      size="small"
      tone="quiet"
      className={tight}
      aria-label={t('save_as', { label, ending })}
      onClick={onSave}
    >
      <Download aria-hidden />
      {ending}
    </Button>
  )
}
