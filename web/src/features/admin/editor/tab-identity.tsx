import { useQuery } from '@tanstack/react-query'
import { useDeferredValue } from 'react'

import { useTranslation } from '~/i18n'
import { Button } from '~/kit/button'
import { focusSoon } from '../focus-soon'
import { isTaken } from '../queries'
import { idOf, useEditing } from './context'
import { IconPart } from './icon-part'
import { JsonPart } from './json-part'
import { TextPart, WordsPart } from './parts'
import { faultOfSlug, proposedSlug } from './slug'

export function IdentityTab() {
  const { t } = useTranslation('admin')
  return (
    <div className="grid gap-5">
      <TextPart name="name" label={t('editor.name')} hint={t('editor.name_hint')} />
      <SlugPart />
      <TextPart
        name="description"
        label={t('editor.description')}
        hint={t('editor.description_hint')}
        isLong
      />
      <div className="grid items-start gap-5 sm:grid-cols-2">
        <TextPart name="category" label={t('editor.category')} hint={t('editor.category_hint')} />
        <IconPart />
      </div>
      <WordsPart name="tags" label={t('editor.tags')} hint={t('editor.tags_hint')} />
      <WordsPart name="aliases" label={t('editor.aliases')} hint={t('editor.aliases_hint')} />
      <JsonPart name="i18n" label={t('editor.i18n')} hint={t('editor.i18n_hint')} canBeNull />
    </div>
  )
}

/** The slug, held against its rules and against the tools there are while it is typed. */
function SlugPart() {
  const { t } = useTranslation('admin')
  const { base, definition, change } = useEditing()
  const slug = useDeferredValue(definition.slug)
  const rule = definition.slug === '' ? undefined : faultOfSlug(definition.slug)
  const asked = useQuery({ ...isTaken(slug), enabled: !base && !faultOfSlug(slug) })
  if (base) {
    return (
      <TextPart
        name="slug"
        label={t('editor.slug')}
        hint={t('editor.slug_fixed')}
        isCode
        disabled
      />
    )
  }
  const fault = rule ? t(`slug.${rule}`) : asked.data ? t('slug.taken') : undefined
  const guess = proposedSlug(definition.name)
  return (
    <div className="grid gap-2">
      <TextPart
        name="slug"
        label={t('editor.slug')}
        hint={asked.data === false && !rule ? t('slug.free') : t('editor.slug_hint')}
        fault={fault}
        isCode
      />
      {definition.slug !== guess && faultOfSlug(guess) === undefined && (
        <Button
          size="small"
          className="justify-self-start"
          onClick={() => {
            change('slug', guess)
            // The button has done its work and goes.
            focusSoon(idOf('/slug'))
          }}
        >
          {t('editor.slug_take', { slug: guess })}
        </Button>
      )}
    </div>
  )
}
