import { useMemo } from 'react'

import { useTranslation } from '~/i18n'
import { Field, Select } from '~/kit/field'
import { lazyPart } from '~/kit/lazy-part'
import { Skeleton } from '~/kit/states'
import { useEditing, useInside } from '../context'
import { described } from '../parts'

// The language of the editor is only for those who write in it.
const ScriptEditor = lazyPart(
  () => import('./script-editor'),
  (module) => module.default,
)

const LANGUAGES = ['javascript', 'typescript'] as const

/** A script. */
export default function ArtifactPanel() {
  return (
    <>
      <LanguageChoice />
      <Source />
    </>
  )
}

function LanguageChoice() {
  const { t } = useTranslation('kinds')
  const { id, value, set, fault, isFixed } = useInside('implementation', ['language'])
  return (
    <Field id={id} label={t('place.language')} hint={t('language_hint')} fault={fault}>
      <Select
        id={id}
        value={typeof value === 'string' ? value : 'javascript'}
        disabled={isFixed}
        aria-invalid={fault !== undefined}
        aria-describedby={described(id, true, fault)}
        onChange={({ target }) => set(target.value)}
      >
        {LANGUAGES.map((language) => (
          <option key={language} value={language}>
            {t(`language.${language}`)}
          </option>
        ))}
      </Select>
    </Field>
  )
}

function Source() {
  const { t } = useTranslation('kinds')
  const { definition, faults } = useEditing()
  const { id, path, value, set, fault, isFixed } = useInside('implementation', ['source'])
  const here = useMemo(() => faults.filter((one) => one.path === path), [faults, path])
  const marks = useMemo(
    () =>
      here.flatMap(({ params, message }) =>
        typeof params?.line === 'number' ? [{ line: params.line, message }] : [],
      ),
    [here],
  )
  const label = t('place.source')
  return (
    <div className="grid min-w-0 gap-1.5">
      <p className="font-medium">{label}</p>
      <ScriptEditor
        fallback={<Skeleton className="h-96" />}
        id={id}
        label={label}
        text={typeof value === 'string' ? value : ''}
        isTyped={definition.implementation?.language === 'typescript'}
        schema={definition.input_schema}
        marks={marks}
        isReadOnly={isFixed}
        isInvalid={fault !== undefined}
        onChange={set}
      />
      <p className="text-xs text-muted">{t('source_hint')}</p>
      <div id={`${id}-fault`} className="grid gap-1 text-xs text-bad empty:hidden">
        {here.map(({ message }) => (
          <p key={message}>{message}</p>
        ))}
      </div>
    </div>
  )
}
