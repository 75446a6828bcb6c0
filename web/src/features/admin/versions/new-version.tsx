import { useMutation, useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'

import { api, body } from '~/api/client'
import { useMay } from '~/api/me'
import { useTranslation } from '~/i18n'
import { Button } from '~/kit/button'
import { Field, Input } from '~/kit/field'
import { Fault } from '~/kit/states'
import { toast } from '~/kit/toast'
import { useEditing } from '../editor/context'
import { comparisonOf, toolChanged } from '../queries'
import type { Tool } from '../types'
import { isVersion, suggestVersion } from './semver'

/** Gives what was saved last a number, and says which one fits what changed. */
export function NewVersion({ tool, hasLive }: { tool: Tool; hasLive: boolean }) {
  const { t } = useTranslation('admin')
  const { isDirty, reset } = useEditing()
  const mayPublish = useMay('tools.tenant.publish')
  const compared = useQuery({ ...comparisonOf(tool.slug, 'live', 'draft'), enabled: hasLive })
  const bump = compared.data?.required_bump ?? 'none'
  const suggested = suggestVersion(compared.data?.from ?? tool.version, tool.version, bump)
  const [typed, setTyped] = useState<string>()
  const version = typed ?? suggested
  const number = useMutation({
    mutationFn: () =>
      body(
        api.POST('/api/tools/{tool}/version', {
          params: {
            path: { tool: tool.slug },
            query: { new_version: version },
            header: { 'If-Match': tool.etag },
          },
        }),
      ),
    onSuccess: async (numbered) => {
      reset(numbered)
      setTyped(undefined)
      toast(t('versions.numbered', { version: numbered.version }))
      await toolChanged(tool.slug)
    },
  })
  if (!mayPublish) return null
  const fault = isVersion(version) ? undefined : t('versions.not_a_version')
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (!fault && !isDirty) number.mutate()
  }
  return (
    <section className="grid gap-3">
      <h2 className="text-base font-semibold">{t('versions.new')}</h2>
      <p className="text-muted">
        {t('versions.new_hint', { version: tool.version })}
        {hasLive && compared.data && ` ${t(`bump.${bump}`)}`}
      </p>
      <form onSubmit={submit} className="flex flex-wrap items-end gap-2">
        <Field id="new-version" label={t('versions.number')} fault={fault}>
          <Input
            id="new-version"
            className="w-36 font-mono"
            value={version}
            aria-invalid={fault !== undefined}
            aria-describedby={fault ? 'new-version-fault' : undefined}
            onChange={(event) => setTyped(event.target.value)}
          />
        </Field>
        <Button type="submit" disabled={isDirty || number.isPending || fault !== undefined}>
          {t('versions.give')}
        </Button>
      </form>
      {isDirty && <p className="text-xs text-muted">{t('versions.save_first')}</p>}
      {number.error && <Fault error={number.error} />}
    </section>
  )
}
