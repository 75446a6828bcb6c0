import { useTranslation } from '~/i18n'
import { cn } from '~/kit/cn'
import { NEW_KINDS } from '../../search'
import { useEditing, usePart } from '../context'

/** What runs when the tool is called. */
export function KindChooser() {
  const { t } = useTranslation(['kinds', 'admin'])
  const { changeKind } = useEditing()
  const { id, value, fault, isFixed } = usePart('implementation_type')
  const kinds: string[] = NEW_KINDS.some((kind) => kind === value)
    ? [...NEW_KINDS]
    : [value, ...NEW_KINDS]
  return (
    <fieldset
      id={id}
      tabIndex={-1}
      disabled={isFixed}
      aria-describedby={fault ? `${id}-fault` : undefined}
      className="grid min-w-0 gap-2 outline-none"
    >
      <legend className="mb-1.5 font-medium">{t('admin:editor.implementation_type')}</legend>
      <div className="grid gap-2 sm:grid-cols-2">
        {kinds.map((kind) => (
          <label
            key={kind}
            className={cn(
              'flex min-w-0 items-start gap-2.5 rounded-md border border-line p-3 has-focus-visible:outline-2 has-focus-visible:outline-accent',
              isFixed ? 'text-muted' : 'cursor-pointer hover:bg-raised',
              kind === value && 'border-accent bg-accent-soft hover:bg-accent-soft',
            )}
          >
            <input
              type="radio"
              name={id}
              value={kind}
              checked={kind === value}
              className="mt-0.5 size-4 shrink-0 accent-accent"
              onChange={() => changeKind(kind)}
            />
            <span className="grid min-w-0 gap-0.5">
              <span className="font-medium break-words">
                {t(`kind.${kind}.name`, { defaultValue: kind })}
              </span>
              <span className="text-xs text-muted">
                {t(`kind.${kind}.text`, { defaultValue: t('kind.other.text') })}
              </span>
            </span>
          </label>
        ))}
      </div>
      {fault && (
        <p id={`${id}-fault`} className="text-xs text-bad">
          {fault}
        </p>
      )}
    </fieldset>
  )
}
