import { isJson } from '~/features/form/schema/json'
import { useTranslation } from '~/i18n'
import type { Schema } from '../../schema/kinds'
import { idOf, useEditing, useInside } from '../context'
import { JsonBox } from '../json-box'
import { TemplatePicker } from './template-picker'

/** Gives back its input, or is a tool of the program under a name of one's own. */
export default function InternalPanel() {
  const { t } = useTranslation('kinds')
  const { value } = useInside('implementation', ['builtin_key'])
  const chosen = typeof value === 'string' ? value : ''
  return (
    <>
      <TemplatePicker
        name="builtin_key"
        label={t('builtin')}
        none={t('echo')}
        noneHint={t('echo_hint')}
        unknownHint={t('builtin_unknown')}
        takeForm={t('take_form_builtin')}
      />
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
