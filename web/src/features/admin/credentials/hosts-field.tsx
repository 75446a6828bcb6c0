import { useTranslation } from '~/i18n'
import { Field, Textarea } from '~/kit/field'
import { Switch } from '~/kit/switch'
import { described } from '../editor/parts'
import { focusSoon } from '../focus-soon'
import { lineOf } from './hosts'
import { idOf, type Sending } from './use-sending'

const HOSTS = '/allowed_hosts'

/** How many hosts a credential can name. */
const MAX = 100

interface Props {
  /** What is typed; `null` while it may be sent to every host. */
  value: string | null
  sending: Sending
  onChange: (value: string | null) => void
}

/** Where a credential may be sent: to every host, or to those that are named. */
export function HostsField({ value, sending, onChange }: Props) {
  const { t } = useTranslation('credentials')
  const id = idOf(HOSTS)
  const isBound = value !== null
  const fault = sending.faults
    .filter(({ path }) => isOfHosts(path))
    .map(({ path, message }) => {
      if (path === HOSTS) return message
      const index = Number(path.slice(HOSTS.length + 1))
      // The server has nothing else against the first one too many.
      const why = index < MAX ? message : t('hosts.too_many', { max: MAX })
      return t('hosts.fault', { line: lineOf(value ?? '', index), message: why })
    })
    .join(' ')
  const hint = t(isBound ? 'hosts.hint' : 'hosts.every_hint')
  const bind = (bound: boolean) => {
    sending.mend(HOSTS)
    onChange(bound ? '' : null)
    if (bound) focusSoon(id)
  }
  return (
    <fieldset className="grid min-w-0 gap-3 rounded-lg border border-line p-4">
      <legend className="px-1 font-medium">{t('hosts.title')}</legend>
      <div className="flex items-start gap-3">
        <Switch
          checked={isBound}
          aria-labelledby={`${id}-bound`}
          aria-describedby={isBound ? undefined : `${id}-every`}
          onChange={bind}
        />
        <div className="grid min-w-0 gap-0.5">
          <span id={`${id}-bound`}>{t('hosts.bound')}</span>
          {!isBound && (
            <span id={`${id}-every`} className="text-xs text-muted">
              {hint}
            </span>
          )}
        </div>
      </div>
      {isBound && (
        <Field id={id} label={t('hosts.label')} hint={hint} fault={fault || undefined}>
          <Textarea
            id={id}
            value={value}
            rows={3}
            autoComplete="off"
            autoCapitalize="off"
            spellCheck={false}
            className="font-mono"
            placeholder={'api.example.com\n*.example.com'}
            aria-invalid={fault !== ''}
            aria-describedby={described(id, hint, fault || undefined)}
            onChange={({ target }) => {
              sending.mend(HOSTS)
              onChange(target.value)
            }}
          />
        </Field>
      )}
    </fieldset>
  )
}

/** Whether something is about the hosts, as a whole or one of them. */
export function isOfHosts(path: string): boolean {
  return path === HOSTS || path.startsWith(`${HOSTS}/`)
}
