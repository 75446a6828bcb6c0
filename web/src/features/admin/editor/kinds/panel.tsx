import { useState } from 'react'

import { useTranslation } from '~/i18n'
import { Button } from '~/kit/button'
import { lazyPart } from '~/kit/lazy-part'
import { Skeleton } from '~/kit/states'
import { idOf, useEditing } from '../context'
import { hasSpec, isBelow } from '../inside'
import { JsonPart } from '../json-part'
import type { Inside } from '../use-typed'

// Whoever makes a tool of one kind does not need the others.
const PANELS = {
  internal: lazyPart(
    () => import('./internal'),
    (module) => module.default,
  ),
  http: lazyPart(
    () => import('./http'),
    (module) => module.default,
  ),
  external: lazyPart(
    () => import('./outside'),
    (module) => module.ExternalPanel,
  ),
  space: lazyPart(
    () => import('./outside'),
    (module) => module.SpacePanel,
  ),
  function: lazyPart(
    () => import('./function'),
    (module) => module.default,
  ),
  artifact: lazyPart(
    () => import('./artifact'),
    (module) => module.default,
  ),
  mcp: lazyPart(
    () => import('./mcp'),
    (module) => module.default,
  ),
  prompt: lazyPart(
    () => import('./prompt'),
    (module) => module.default,
  ),
  composition: lazyPart(
    () => import('./composition'),
    (module) => module.default,
  ),
}

/** What the panels show of a part; anything else is told above them. The first shows all that is inside. */
const SHOWN: Record<keyof typeof PANELS, string[]> = {
  internal: [],
  http: ['url', 'method', 'query', 'headers', 'body', 'response', 'retry', 'idempotency_header'],
  external: ['pending_ttl_ms'],
  space: ['pending_ttl_ms'],
  function: ['function_name'],
  artifact: ['artifact_id', 'artifact_version', 'language', 'source'],
  mcp: ['server_url', 'server', 'tool_name', 'headers'],
  prompt: ['prompt_template', 'system', 'model', 'output', 'max_output_tokens'],
  composition: ['steps', 'output'],
}

function isPanel(kind: string): kind is keyof typeof PANELS {
  return Object.hasOwn(PANELS, kind)
}

/** What the chosen kind has to know, in fields or as JSON: two looks at the same. */
export function KindPanel() {
  const { t } = useTranslation(['kinds', 'admin'])
  const { definition, unread, isOverride } = useEditing()
  const [asJson, setAsJson] = useState(false)
  const [refused, setRefused] = useState(false)
  const kind = definition.implementation_type
  const part: Inside = hasSpec(kind) ? 'execution_spec' : 'implementation'
  const other: Inside = part === 'implementation' ? 'execution_spec' : 'implementation'
  const isBroken = unread[`/${part}`] !== undefined
  const hasFields = isPanel(kind) && !isOverride
  const showsJson = !hasFields || asJson || isBroken
  const choose = (json: boolean) => {
    const isHalf = json
      ? Object.keys(unread).some((path) => path !== `/${part}` && isBelow(path, `/${part}`))
      : isBroken
    setRefused(isHalf)
    if (!isHalf) setAsJson(json)
  }
  return (
    <section aria-labelledby="kind-title" className="grid min-w-0 gap-5">
      <div className="flex flex-wrap items-center justify-between gap-2">
        <h2 id="kind-title" className="font-semibold">
          {t(`kinds:kind.${kind}.title`, { defaultValue: t('admin:editor.implementation') })}
        </h2>
        {hasFields && (
          <Button
            size="small"
            tone="quiet"
            aria-pressed={showsJson}
            onClick={() => choose(!showsJson)}
          >
            {t('kinds:as_json')}
          </Button>
        )}
      </div>
      {refused && (
        <p role="alert" className="text-xs text-bad">
          {t('kinds:mend_first')}
        </p>
      )}
      {showsJson ? (
        <JsonPart
          key={part}
          name={part}
          label={t(`admin:editor.${part}`)}
          hint={part === 'implementation' ? t('admin:editor.implementation_hint') : undefined}
          canBeNull={part === 'execution_spec'}
        />
      ) : (
        <Fields kind={kind as keyof typeof PANELS} part={part} />
      )}
      <Left name={other} />
    </section>
  )
}

function Fields({ kind, part }: { kind: keyof typeof PANELS; part: Inside }) {
  const { faults } = useEditing()
  const Panel = PANELS[kind]
  const shown = SHOWN[kind].map((name) => `/${part}/${name}`)
  const isShown = (path: string) =>
    kind === 'internal' ? path !== `/${part}` : shown.some((place) => isBelow(path, place))
  const loose = faults.filter(({ path }) => isBelow(path, `/${part}`) && !isShown(path))
  return (
    <div id={idOf(`/${part}`)} tabIndex={-1} className="grid min-w-0 gap-5 outline-none">
      {loose.map(({ path, message }) => (
        <p key={path + message} className="text-xs text-bad">
          <code>{path.slice(part.length + 2)}</code> {message}
        </p>
      ))}
      <Panel fallback={<Skeleton className="h-40" />} />
    </div>
  )
}

/** The part that this kind has no use for, if something is in it: it can be taken out here. */
function Left({ name }: { name: Inside }) {
  const { t } = useTranslation('admin')
  const { definition, faults, unread, isOverride } = useEditing()
  const value = definition[name]
  const isThere =
    (value !== null && Object.keys(value).length > 0) ||
    unread[`/${name}`] !== undefined ||
    faults.some(({ path }) => isBelow(path, `/${name}`))
  if (!isThere || (isOverride && value === null)) return null
  return <JsonPart name={name} label={t(`editor.${name}`)} canBeNull={name === 'execution_spec'} />
}
