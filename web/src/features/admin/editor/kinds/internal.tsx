import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'

import { isJson } from '~/features/form/schema/json'
import { Field, Select } from '~/kit/field'
import { Fault } from '~/kit/states'
import type { Schema } from '../../schema/kinds'
import { idOf, useEditing, useInside } from '../context'
import { JsonBox } from '../json-box'
import { described } from '../parts'
import { isUntold } from './builtin'
import { builtins } from './queries'

/** Gives back its input, or is a tool of the program under a name of one's own. */
export default function InternalPanel() {
  const { t } = useTranslation('kinds')
  const { definition, change } = useEditing()
  const { id, value, set, fault, isFixed } = useInside('implementation', ['builtin_key'])
  const { data = [], error, refetch } = useQuery(builtins)
  const chosen = typeof value === 'string' ? value : ''
  const known = data.find(({ builtin_key }) => builtin_key === chosen)
  const choose = (key: string) => {
    set(key || undefined)
    const template = data.find(({ builtin_key }) => builtin_key === key)
    if (!template) return
    if (isUntold(definition.input_schema)) {
      change('input_schema', template.input_schema as unknown as Schema)
      const output = template.output_schema as unknown as Schema | null | undefined
      if (definition.output_schema === null && output) change('output_schema', output)
    }
    if (definition.description === '') change('description', template.description)
  }
  return (
    <>
      <Field
        id={id}
        label={t('builtin')}
        hint={known ? known.description : t(chosen ? 'builtin_unknown' : 'echo_hint')}
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
          <option value="">{t('echo')}</option>
          {chosen && !known && <option value={chosen}>{chosen}</option>}
          {data.map(({ builtin_key, name }) => (
            <option key={builtin_key} value={builtin_key}>
              {name} ({builtin_key})
            </option>
          ))}
        </Select>
      </Field>
      {error && <Fault error={error} onRetry={() => void refetch()} />}
      <BesideKey hasKey={chosen !== ''} />
    </>
  )
}

/** Whatever stands beside the key: the settings of the built-in. */
function BesideKey({ hasKey }: { hasKey: boolean }) {
  const { t } = useTranslation('kinds')
  const { definition, change, faults, isOverride, unread } = useEditing()
  const { builtin_key, ...settings } = definition.implementation
  const path = '/implementation/settings'
  const isEmpty = Object.keys(settings).length === 0
  if (!hasKey && isEmpty && unread[path] === undefined) return null
  const here = faults.filter(
    ({ path }) => path.startsWith('/implementation/') && path !== '/implementation/builtin_key',
  )
  return (
    <JsonBox
      id={idOf(path)}
      path={path}
      label={t('settings')}
      hint={t('settings_hint')}
      value={isEmpty ? undefined : settings}
      fits={(value) => value === undefined || isJson(value)}
      onChange={(value) => {
        const own = builtin_key === undefined ? {} : { builtin_key }
        change('implementation', { ...own, ...(value as Schema | undefined) })
      }}
      isInvalid={here.length > 0}
      isReadOnly={isOverride}
      faults={here.map(({ path, message }) => (
        <p key={path + message}>
          <code>{path.slice('/implementation/'.length)}</code> {message}
        </p>
      ))}
    />
  )
}
