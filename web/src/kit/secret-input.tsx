import { Eye, EyeOff } from 'lucide-react'
import { type ComponentProps, useState } from 'react'

import { useTranslation } from '~/i18n'
import { Button } from './button'
import { cn } from './cn'
import { Input, Textarea } from './field'

type Passed =
  | 'id'
  | 'readOnly'
  | 'placeholder'
  | 'className'
  | 'aria-label'
  | 'aria-invalid'
  | 'aria-describedby'
  | 'aria-required'

interface Props extends Pick<ComponentProps<'input'>, Passed> {
  /** What is secret, for the button that shows it. */
  name: string
  /** For texts with line ends, such as keys from files; a password's box would drop those. */
  isLong?: boolean
  value: string
  onChange: (event: { target: { value: string } }) => void
  onBlur?: () => void
}

/** A text that stays hidden until somebody asks to see it. Nothing helps to type it: helpers remember. */
export function SecretInput({ name, isLong, className, ...rest }: Props) {
  const { t } = useTranslation()
  const [open, setOpen] = useState(false)
  const Icon = open ? EyeOff : Eye
  const quiet = { autoComplete: 'off', autoCapitalize: 'off', spellCheck: false } as const
  return (
    <div className={cn('flex min-w-0 gap-2', className)}>
      {isLong ? (
        <Textarea
          rows={1}
          className={cn('min-h-9 font-mono', { '[-webkit-text-security:disc]': !open })}
          {...quiet}
          {...rest}
        />
      ) : (
        <Input type={open ? 'text' : 'password'} {...quiet} {...rest} />
      )}
      <Button
        size="icon"
        className="shrink-0"
        aria-label={t(open ? 'conceal' : 'reveal', { label: name })}
        aria-pressed={open}
        onClick={() => setOpen(!open)}
      >
        <Icon aria-hidden />
      </Button>
    </div>
  )
}
