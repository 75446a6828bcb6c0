import { idOf, useEditing, usePart } from './context'
import { type Key, partOf } from './definition'
import { JsonBox } from './json-box'

interface Props {
  name: Key
  label: string
  hint?: string
  /** Whether nothing at all may stand there. */
  canBeNull?: boolean
  isTall?: boolean
}

/** A whole part of a definition as JSON. */
export function JsonPart({ name, label, hint, canBeNull, isTall }: Props) {
  const { value, set, isFixed } = usePart(name)
  const { faults } = useEditing()
  const here = faults.filter(({ path }) => partOf(path) === name)
  return (
    <JsonBox
      id={idOf(`/${name}`)}
      path={`/${name}`}
      label={label}
      hint={hint}
      value={value ?? undefined}
      fits={(value) => (value == null ? canBeNull === true : typeof value === 'object')}
      onChange={(value) => set((value ?? null) as never)}
      isInvalid={here.length > 0}
      isReadOnly={isFixed}
      isTall={isTall}
      faults={here.map(({ path, message }) => (
        <p key={path + message}>
          <code>{path.slice(name.length + 2)}</code> {message}
        </p>
      ))}
    />
  )
}
