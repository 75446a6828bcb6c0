import { useQuery, useQueryClient } from '@tanstack/react-query'

import { useTranslation } from '~/i18n'
import { Button } from '~/kit/button'
import { Field, Select } from '~/kit/field'
import { Fault } from '~/kit/states'
import { focusSoon } from '../../focus-soon'
import { useEditing, useInside } from '../context'
import { described } from '../parts'
import { builtins, functions } from './queries'
import { formOf, hasFormOf, toldBy } from './templates'

const LISTS = { builtin_key: builtins, function_name: functions }

interface Props {
  /** The setting that names what is chosen. */
  name: keyof typeof LISTS
  label: string
  /** What it is called that nothing is chosen, and what that means. */
  none: string
  noneHint: string
  unknownHint: string
  /** What the button says that takes the form over. */
  takeForm: string
}

/** Something of the program that the tool is to be. It says as well what the tool takes and gives. */
export function TemplatePicker({ name, label, none, noneHint, unknownHint, takeForm }: Props) {
  const { t } = useTranslation('kinds')
  const { definition, change } = useEditing()
  const { id, value, set, fault, isFixed } = useInside('implementation', [name])
  const { data = [], error, isPending, refetch } = useQuery(LISTS[name])
  const cache = useQueryClient()
  const chosen = typeof value === 'string' ? value : ''
  const known = data.find(({ key }) => key === chosen)
  const tell = (told: ReturnType<typeof toldBy>) => {
    if (told.input_schema) change('input_schema', told.input_schema)
    if (told.output_schema !== undefined) change('output_schema', told.output_schema)
    if (told.description !== undefined) change('description', told.description)
  }
  const choose = (key: string) => {
    set(key || undefined)
    const template = data.find((one) => one.key === key)
    // The form may be one of the other list: whoever comes from that kind has it.
    const all = Object.values(LISTS).flatMap(({ queryKey }) => cache.getQueryData(queryKey) ?? [])
    if (template) tell(toldBy(template, definition, all))
  }
  return (
    <div className="grid min-w-0 gap-2">
      <Field
        id={id}
        label={label}
        hint={known ? known.description : chosen && !isPending ? unknownHint : !chosen && noneHint}
        fault={fault}
      >
        <Select
          id={id}
          value={chosen}
          disabled={isFixed}
          aria-invalid={fault !== undefined}
          aria-describedby={described(id, true, fault)}
          onChange={({ target }) => choose(target.value)}
        >
          <option value="">{none}</option>
          {chosen && !known && <option value={chosen}>{chosen}</option>}
          {data.map(({ key, name }) => (
            <option key={key} value={key}>
              {name === key ? name : `${name} (${key})`}
            </option>
          ))}
        </Select>
      </Field>
      {known && !isFixed && !hasFormOf(known, definition) && (
        <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
          <Button
            size="small"
            onClick={() => {
              tell(formOf(known))
              // The button has done its work and goes.
              focusSoon(id)
            }}
          >
            {takeForm}
          </Button>
          <span className="text-xs text-muted">{t('take_form_hint')}</span>
        </div>
      )}
      {error && <Fault error={error} onRetry={() => void refetch()} />}
    </div>
  )
}
