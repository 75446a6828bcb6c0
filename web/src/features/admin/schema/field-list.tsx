import { Plus } from 'lucide-react'
import { useState } from 'react'

import { useTranslation } from '~/i18n'
import { Button } from '~/kit/button'
import { idOf } from '../editor/context'
import { focusSoon } from '../focus-soon'
import { FieldCard } from './field-card'
import type { Schema } from './kinds'
import {
  addMember,
  changeMember,
  membersOf,
  moveMember,
  removeMember,
  renameMember,
  withRequired,
} from './members'

interface Props {
  /** An object. */
  schema: Schema
  /** Where it stands in the definition. */
  path: string
  isFixed: boolean
  onChange: (schema: Schema) => void
}

/** The properties of an object, in their order. One of them is open at a time. */
export function FieldList({ schema, path, isFixed, onChange }: Props) {
  const { t } = useTranslation('admin')
  const [open, setOpen] = useState<number>()
  const members = membersOf(schema)
  const placeOf = (name: string) => `${path}/properties/${escaped(name)}`
  return (
    <div className="grid min-w-0 gap-2">
      {members.length === 0 && <p className="text-muted">{t('schema.no_fields')}</p>}
      <ol className="grid min-w-0 gap-2">
        {members.map((member, index) => (
          // The place, not the name: that changes while it is typed.
          // oxlint-disable-next-line react/no-array-index-key
          <li key={index} className="min-w-0">
            <FieldCard
              object={schema}
              member={member}
              path={placeOf(member.name)}
              isOpen={open === index}
              isFirst={index === 0}
              isLast={index === members.length - 1}
              isFixed={isFixed}
              onOpen={(isOpen) => setOpen(isOpen ? index : undefined)}
              onRename={(name) => onChange(renameMember(schema, member.name, name))}
              onRequired={(required) => onChange(withRequired(schema, member.name, required))}
              onChange={(changed) => onChange(changeMember(schema, member.name, changed))}
              onMove={(by) => {
                onChange(moveMember(schema, member.name, by))
                if (open === index) setOpen(index + by)
                else if (open === index + by) setOpen(index)
              }}
              onRemove={() => {
                onChange(removeMember(schema, member.name))
                setOpen(undefined)
              }}
            />
          </li>
        ))}
      </ol>
      {!isFixed && (
        <Button
          size="small"
          className="justify-self-start"
          onClick={() => {
            const added = addMember(schema)
            onChange(added)
            setOpen(members.length)
            focusSoon(idOf(placeOf(membersOf(added).at(-1)?.name ?? '')))
          }}
        >
          <Plus aria-hidden />
          {t('schema.add_field')}
        </Button>
      )}
    </div>
  )
}

/** A name as a part of a JSON pointer. */
function escaped(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1')
}
