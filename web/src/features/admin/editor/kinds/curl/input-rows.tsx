import { useTranslation } from '~/i18n'
import { Input } from '~/kit/field'
import { textOf } from '../pairs'
import type { Leaf } from './proposal'

interface Props {
  leaves: readonly Leaf[]
  /** The names of those that become inputs, by their ids. */
  inputs: ReadonlyMap<string, string>
  onChange: (inputs: Map<string, string>) => void
}

/** The values of a request. Those that are ticked become inputs of the tool; the others stay as they are. */
export function InputRows({ leaves, inputs, onChange }: Props) {
  const { t } = useTranslation('curl')
  if (leaves.length === 0) return null
  const tick = (leaf: Leaf, isTicked: boolean) => {
    const next = new Map(inputs)
    if (isTicked) next.set(leaf.id, leaf.name)
    else next.delete(leaf.id)
    onChange(next)
  }
  return (
    <fieldset className="grid min-w-0 gap-2">
      <legend className="mb-1 font-medium">{t('inputs')}</legend>
      <p className="text-xs text-muted">{t('inputs_hint')}</p>
      <ul className="grid min-w-0 gap-1.5">
        {leaves.map((leaf) => {
          const name = inputs.get(leaf.id)
          const example = leaf.example === undefined ? '' : textOf(leaf.example)
          return (
            <li
              key={leaf.id}
              className="grid min-w-0 grid-cols-[minmax(0,1fr)_minmax(0,9rem)] items-center gap-2 rounded-md border border-line px-2.5 py-1.5"
            >
              <label className="flex min-w-0 items-center gap-2">
                <input
                  type="checkbox"
                  className="size-4 shrink-0 accent-accent"
                  checked={name !== undefined}
                  disabled={leaf.isOpen}
                  onChange={({ target }) => tick(leaf, target.checked)}
                />
                <span className="grid min-w-0">
                  <span className="truncate font-mono text-xs">{leaf.shown}</span>
                  <span className="truncate text-xs text-muted">
                    {t(`place.${leaf.place}`)}
                    {leaf.place !== 'path' && example && ` · ${example}`}
                  </span>
                </span>
              </label>
              {name !== undefined && (
                <Input
                  aria-label={t('input_name', { name: leaf.shown })}
                  className="h-8 font-mono text-xs"
                  required
                  value={name}
                  onChange={({ target }) =>
                    onChange(new Map(inputs).set(leaf.id, target.value.replace(/\W/g, '_')))
                  }
                />
              )}
            </li>
          )
        })}
      </ul>
    </fieldset>
  )
}
