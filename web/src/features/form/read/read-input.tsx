import { useMemo, useState } from 'react'

import { Raw } from '~/features/result/raw'
import { useTranslation } from '~/i18n'
import { CurrencyContext, currencyOf } from '../controls/currency'
import { ModeSwitch } from '../mode-switch'
import { isJson } from '../schema/json'
import { Place } from './place'
import { ReadMembers, ReadValue } from './read-value'

interface Props {
  tool: { input_schema: unknown; form_spec?: unknown }
  value: unknown
}

/** An input to be read: each value behind what the form calls it, or all of it as JSON. */
export function ReadInput({ tool: { input_schema, form_spec }, value }: Props) {
  const { t } = useTranslation('form')
  const [mode, setMode] = useState<'form' | 'json'>('form')
  const top = useMemo(() => Place.top(input_schema, form_spec), [input_schema, form_spec])
  const isDescribed = top.isDescribed || !isJson(value)
  if (!isDescribed) return <Raw value={value} name={t('json.label')} />
  return (
    <CurrencyContext value={currencyOf(value)}>
      <div className="grid min-w-0 grid-cols-[minmax(0,1fr)] gap-3">
        <ModeSwitch mode={mode} onChoose={setMode} refused={false} />
        {mode === 'json' ? (
          <Raw value={value} name={t('json.label')} />
        ) : !isJson(value) ? (
          <ReadValue place={top} value={value} />
        ) : top.namesIn(value).length === 0 ? (
          <p className="text-muted">{t('read.no_input')}</p>
        ) : (
          <ReadMembers place={top} value={value} />
        )}
      </div>
    </CurrencyContext>
  )
}
