import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'

import { useTranslation } from '~/i18n'
import { Button } from '~/kit/button'
import { cn } from '~/kit/cn'
import { lazyPart } from '~/kit/lazy-part'
import { Skeleton } from '~/kit/states'
import { idOf, useEditing, usePart } from '../editor/context'
import { JsonPart } from '../editor/json-part'
import { focusSoon } from '../focus-soon'
import { SCHEMA_SIDES, type SchemaSide, type ToolEditorSearch } from '../search'
import { FieldList } from './field-list'
import { shapeOf } from './kinds'

// Most tools are laid out by their schemas.
const LayoutSide = lazyPart(
  () => import('../layout/layout-side'),
  (module) => module.default,
)

/** What goes in and what comes out, as a list of fields or as JSON: two looks at the same schema. */
export function SchemaTab({ search }: { search: ToolEditorSearch }) {
  const { t } = useTranslation('admin')
  const side = search.side ?? 'input'
  return (
    <div className="grid gap-4">
      <div className="flex flex-wrap items-center justify-between gap-3">
        <Choices label={t('schema.sides')}>
          {SCHEMA_SIDES.map((one) => (
            <Choice key={one} isChosen={one === side} search={{ ...search, side: one }}>
              {t(`schema.${one}`)}
            </Choice>
          ))}
        </Choices>
        <Choices label={t('schema.looks')}>
          <Choice isChosen={!search.as} search={{ ...search, as: undefined }}>
            {t(side === 'layout' ? 'layout.as_form' : 'schema.as_fields')}
          </Choice>
          <Choice isChosen={search.as === 'json'} search={{ ...search, as: 'json' }}>
            {t(side === 'layout' ? 'layout.as_json' : 'schema.as_json')}
          </Choice>
        </Choices>
      </div>
      {side === 'layout' ? (
        <LayoutSide fallback={<Skeleton className="h-60" />} asJson={search.as === 'json'} />
      ) : (
        <Side side={side} asJson={search.as === 'json'} />
      )}
    </div>
  )
}

function Side({ side, asJson }: { side: Exclude<SchemaSide, 'layout'>; asJson: boolean }) {
  const { t } = useTranslation('admin')
  const name = `${side}_schema` as const
  const { value, set, isFixed } = usePart(name)
  const { unread, faults } = useEditing()
  if (asJson || unread[`/${name}`] !== undefined) {
    const hint = t(side === 'input' ? 'schema.input_hint' : 'schema.output_hint')
    return (
      <JsonPart
        name={name}
        label={t(`schema.${side}_schema`)}
        hint={hint}
        canBeNull={side === 'output'}
        isTall
      />
    )
  }
  if (value === null) {
    return (
      <div
        id={idOf(`/${name}`)}
        tabIndex={-1}
        className="grid justify-items-start gap-3 outline-none"
      >
        <p className="text-muted">{t('schema.no_output')}</p>
        {!isFixed && (
          <Button
            onClick={() => {
              set(shapeOf('object'))
              // Either button goes with what it was for.
              focusSoon(idOf(`/${name}`))
            }}
          >
            {t('schema.describe_output')}
          </Button>
        )}
      </div>
    )
  }
  const own = faults.filter(({ path }) => path === `/${name}`)
  return (
    <div id={idOf(`/${name}`)} tabIndex={-1} className="grid gap-3 outline-none">
      {own.map(({ message }) => (
        <p key={message} className="text-xs text-bad">
          {message}
        </p>
      ))}
      <FieldList schema={value} path={`/${name}`} isFixed={isFixed} onChange={set} />
      {side === 'output' && !isFixed && (
        <Button
          tone="quiet"
          size="small"
          className="justify-self-start"
          onClick={() => {
            set(null)
            focusSoon(idOf(`/${name}`))
          }}
        >
          {t('schema.drop_output')}
        </Button>
      )}
    </div>
  )
}

function Choices({ label, children }: { label: string; children: ReactNode }) {
  return (
    <nav aria-label={label} className="flex rounded-md border border-line p-0.5">
      {children}
    </nav>
  )
}

interface ChoiceProps {
  isChosen: boolean
  search: ToolEditorSearch
  children: ReactNode
}

function Choice({ isChosen, search, children }: ChoiceProps) {
  return (
    <Link
      to="."
      search={search}
      replace
      resetScroll={false}
      aria-current={isChosen ? 'true' : undefined}
      className={cn('rounded-sm px-2.5 py-1 text-xs font-medium text-muted hover:text-text', {
        'bg-accent-soft text-accent hover:text-accent': isChosen,
      })}
    >
      {children}
    </Link>
  )
}
