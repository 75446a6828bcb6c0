import { ClipboardPaste } from 'lucide-react'
import { useState } from 'react'

import { useTranslation } from '~/i18n'
import { Button } from '~/kit/button'
import { Field, Select } from '~/kit/field'
import { lazyPart } from '~/kit/lazy-part'
import { useEditing, useInside } from '../context'
import { described, NumberInput } from '../parts'
import { InputExpressions, JsonInside, TextInside, useInputSources } from './controls'
import { PairRows } from './pair-rows'

// Whoever writes the address by hand does not need a reader of commands.
const CurlDialog = lazyPart(
  () => import('./curl/curl-dialog'),
  (module) => module.default,
)

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS']

/** A request to somebody else's server. */
export default function HttpPanel() {
  const { t } = useTranslation('kinds')
  const sources = useInputSources()
  return (
    <>
      <FromCurl />
      <div className="grid items-start gap-5 sm:grid-cols-[8rem_minmax(0,1fr)]">
        <Method />
        <TextInside
          of="implementation"
          at={['url']}
          label={t('url')}
          sources={sources}
          insertName={t('insert_at.url')}
          hint={
            <>
              {t('url_hint')} <InputExpressions />
            </>
          }
          placeholder="https://api.example.com/v1/cities/{{ input.city }}"
        />
      </div>
      <PairRows name="query" />
      <PairRows name="headers" />
      <JsonInside of="implementation" at={['body']} label={t('body')} hint={t('body_hint')} />
      <TextInside
        of="implementation"
        at={['response']}
        label={t('response')}
        hint={t('response_hint')}
        placeholder=".current"
      />
      <div className="grid items-start gap-5 sm:grid-cols-2">
        <Retries />
        <TextInside
          of="implementation"
          at={['idempotency_header']}
          label={t('idempotency_header')}
          hint={t('idempotency_hint')}
          placeholder="Idempotency-Key"
        />
      </div>
    </>
  )
}

function FromCurl() {
  const { t } = useTranslation('kinds')
  const { isOverride } = useEditing()
  const [isOpen, setOpen] = useState(false)
  if (isOverride) return null
  return (
    <>
      <Button size="small" className="justify-self-start" onClick={() => setOpen(true)}>
        <ClipboardPaste aria-hidden />
        {t('from_curl')}
      </Button>
      {isOpen && <CurlDialog onClose={() => setOpen(false)} />}
    </>
  )
}

function Method() {
  const { t } = useTranslation('kinds')
  const { id, value, set, fault, isFixed } = useInside('implementation', ['method'])
  const method = typeof value === 'string' ? value.toUpperCase() : 'GET'
  const methods = METHODS.includes(method) ? METHODS : [method, ...METHODS]
  return (
    <Field id={id} label={t('method')} fault={fault}>
      <Select
        id={id}
        value={method}
        disabled={isFixed}
        aria-invalid={fault !== undefined}
        aria-describedby={described(id, undefined, fault)}
        onChange={({ target }) => set(target.value)}
      >
        {methods.map((one) => (
          <option key={one}>{one}</option>
        ))}
      </Select>
    </Field>
  )
}

function Retries() {
  const { t } = useTranslation('kinds')
  const whole = useInside('implementation', ['retry'])
  const { path, value, set, fault, isFixed } = useInside('implementation', ['retry', 'max'])
  return (
    <NumberInput
      path={path}
      label={t('retry')}
      hint={t('retry_hint')}
      value={typeof value === 'number' ? value : null}
      fault={fault ?? whole.fault}
      disabled={isFixed}
      onChange={(max) => (max === null ? whole.set(undefined) : set(max))}
    />
  )
}
