import { useMutation, useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'

import { useTranslation } from '~/i18n'
import { Field, Select } from '~/kit/field'
import { lazyPart } from '~/kit/lazy-part'
import { Skeleton } from '~/kit/states'
import { useEditing, useInside } from '../context'
import { described } from '../parts'
import { artifacts, artifactUsers, readArtifact } from './queries'

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
      <ArtifactChoice />
      <LanguageChoice />
      <Source />
    </>
  )
}

/** Takes the script of another tool, or one that was saved by itself. */
function ArtifactChoice() {
  const { t } = useTranslation('kinds')
  const { definition } = useEditing()
  const { set } = useInside('implementation', [])
  const { id, value, fault, isFixed } = useInside('implementation', ['artifact_id'])
  const { data: list = [] } = useQuery(artifacts)
  const chosen = typeof value === 'string' ? value : ''
  const choose = useMutation({
    mutationFn: readArtifact,
    onSuccess: ({ id: artifact_id, version: artifact_version, language, source }) =>
      set({ artifact_id, artifact_version, language, source }),
  })
  if (list.length === 0 && fault === undefined) return null
  const { artifact_version } = definition.implementation ?? {}
  return (
    <Field
      id={id}
      label={t('place.artifact_id')}
      hint={
        chosen === '' ? t('artifact_new_hint') : t('artifact_hint', { version: artifact_version })
      }
      fault={fault ?? (choose.isError ? t('artifact_unread') : undefined)}
    >
      <Select
        id={id}
        value={chosen}
        disabled={isFixed || choose.isPending}
        aria-invalid={fault !== undefined}
        aria-describedby={described(id, true, fault)}
        onChange={({ target }) => target.value !== '' && choose.mutate(target.value)}
      >
        {chosen === '' && <option value="">{t('artifact_new')}</option>}
        {chosen !== '' && list.every((one) => one.id !== chosen) && (
          <option value={chosen}>{chosen}</option>
        )}
        {list.map((one) => (
          <option key={one.id} value={one.id}>
            {t('artifact_option', { name: one.name, version: one.version })}
          </option>
        ))}
      </Select>
      {chosen !== '' && <Users id={chosen} />}
    </Field>
  )
}

function Users({ id }: { id: string }) {
  const { t } = useTranslation('kinds')
  const { data: users = [] } = useQuery(artifactUsers(id))
  if (users.length === 0) return null
  return (
    <p className="text-xs break-words text-muted">
      {t('artifact_users', { names: users.join(', ') })}
    </p>
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
