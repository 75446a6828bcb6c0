import { useMutation } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'

import { api, body } from '~/api/client'
import { Problem } from '~/api/problem'
import { useTranslation } from '~/i18n'
import { faultWords } from '~/i18n/server-words'
import { Button } from '~/kit/button'
import { Dialog } from '~/kit/dialog'
import { Field, Input } from '~/kit/field'
import { Fault } from '~/kit/states'
import { faultOfSlug } from '../editor/slug'
import { toolChanged } from '../queries'
import type { Tool } from '../types'

export function CloneDialog({ tool, onClose }: { tool: Tool; onClose: () => void }) {
  const { t } = useTranslation('admin')
  const navigate = useNavigate()
  const [slug, setSlug] = useState(`${tool.slug}-copy`)
  const [name, setName] = useState(t('clone.copy_of', { name: tool.name }))
  const clone = useMutation({
    mutationFn: () =>
      body(
        api.POST('/api/tools/{tool}/clone', {
          params: { path: { tool: tool.slug } },
          body: { slug, name },
        }),
      ),
    onSuccess: async (made) => {
      await toolChanged(made.slug)
      await navigate({ to: '/admin/tools/$slug/edit', params: { slug: made.slug }, search: {} })
    },
  })
  const rule = faultOfSlug(slug)
  const told = (path: string) => {
    const errors = clone.error instanceof Problem ? clone.error.errors : []
    const fault = errors.find((fault) => fault.path === path)
    return fault && faultWords(fault)
  }
  const slugFault = rule ? t(`slug.${rule}`) : told('/slug')
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (!rule) clone.mutate()
  }
  return (
    <Dialog
      open
      title={t('clone.title', { name: tool.name })}
      description={t('clone.hint')}
      onClose={onClose}
    >
      <form onSubmit={submit} className="grid gap-4">
        <Field id="clone-slug" label={t('editor.slug')} fault={slugFault}>
          <Input
            id="clone-slug"
            className="font-mono"
            value={slug}
            aria-invalid={slugFault !== undefined}
            aria-describedby={slugFault ? 'clone-slug-fault' : undefined}
            onChange={(event) => setSlug(event.target.value)}
          />
        </Field>
        <Field id="clone-name" label={t('editor.name')} fault={told('/name')}>
          <Input id="clone-name" value={name} onChange={(event) => setName(event.target.value)} />
        </Field>
        {clone.error && !told('/slug') && <Fault error={clone.error} />}
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>{t('cancel', { ns: 'app' })}</Button>
          <Button type="submit" tone="primary" disabled={clone.isPending || rule !== undefined}>
            {t('action.clone')}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
