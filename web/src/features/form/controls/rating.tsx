import { Star } from 'lucide-react'

import { useTranslation } from '~/i18n'
import { Button } from '~/kit/button'
import { starsOf } from './kind'
import { aria, type ControlProps, shown } from './props'

/** A mark in stars. Each star is a radio button, so the arrow keys move between them. */
export function RatingControl(props: ControlProps) {
  const { t } = useTranslation('form')
  const { id, schema, label, value, onChange, onBlur, required } = props
  const { 'aria-required': isRequired, ...rest } = aria(props)
  const marks = starsOf(schema) ?? []
  const most = marks.at(-1)
  return (
    <div className="flex min-h-9 flex-wrap items-center gap-x-3">
      <div
        role="radiogroup"
        id={id}
        aria-label={label}
        aria-required={isRequired}
        tabIndex={-1}
        className="flex flex-wrap"
        {...rest}
      >
        {marks.map((mark) => (
          <label
            key={mark}
            className="relative grid size-7 cursor-pointer place-items-center rounded-md has-focus-visible:outline-2 has-focus-visible:outline-accent"
          >
            <input
              type="radio"
              name={id}
              className="sr-only"
              checked={value === mark}
              onChange={() => onChange(mark)}
              onBlur={onBlur}
            />
            <span className="sr-only">{t('rating', { mark, most })}</span>
            {mark === 0 ? (
              <span aria-hidden>0</span>
            ) : (
              <Star
                aria-hidden
                className={
                  Number(value) >= mark ? 'size-5 fill-current text-accent' : 'size-5 text-muted'
                }
              />
            )}
          </label>
        ))}
      </div>
      {value !== undefined && value !== null && (
        <output htmlFor={id} className="text-muted tabular-nums">
          {t('rating', { mark: shown(value), most })}
        </output>
      )}
      {!required && value !== undefined && (
        <Button
          size="small"
          tone="quiet"
          aria-label={t('list.remove_named', { name: label })}
          onClick={() => onChange(undefined)}
        >
          {t('list.remove')}
        </Button>
      )}
    </div>
  )
}
