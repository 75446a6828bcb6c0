import { useTranslation } from '~/i18n'
import { cn } from '~/kit/cn'

interface Props {
  mode: 'form' | 'json'
  onChoose: (mode: 'form' | 'json') => void
  /** Whether the way back to the form was asked for and is closed. */
  refused: boolean
}

export function ModeSwitch({ mode, onChoose, refused }: Props) {
  const { t } = useTranslation('form')
  return (
    <div className="flex flex-wrap items-center justify-end gap-x-3 gap-y-1">
      {refused && (
        <p role="alert" className="min-w-0 flex-1 text-xs text-bad">
          {t('json.refused')}
        </p>
      )}
      <div
        role="group"
        aria-label={t('mode.label')}
        className="flex rounded-md border border-line p-0.5"
      >
        {(['form', 'json'] as const).map((name) => (
          <button
            key={name}
            type="button"
            aria-pressed={mode === name}
            onClick={() => onChoose(name)}
            className={cn(
              'h-7 rounded px-3 text-xs font-medium',
              mode === name ? 'bg-accent-soft text-accent' : 'text-muted hover:bg-raised',
            )}
          >
            {t(`mode.${name}`)}
          </button>
        ))}
      </div>
    </div>
  )
}
