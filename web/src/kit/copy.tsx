import { Check, Copy } from 'lucide-react'
import { useState } from 'react'

import { useTranslation } from '~/i18n'
import { Button } from './button'

/** Puts a text on the clipboard, and says that it did. Without a label it is an icon. */
export function CopyButton({ text, label, name }: { text: string; label?: string; name?: string }) {
  const { t } = useTranslation()
  const [done, setDone] = useState(false)
  const copy = async () => {
    await navigator.clipboard.writeText(text)
    setDone(true)
    setTimeout(() => setDone(false), 1500)
  }
  const Icon = done ? Check : Copy
  return (
    <Button
      size="small"
      tone={label ? 'plain' : 'quiet'}
      aria-label={label ? undefined : (name ?? t('copy'))}
      onClick={copy}
    >
      <Icon aria-hidden />
      {label && (done ? t('copied') : label)}
      <span className="sr-only" aria-live="polite">
        {done && !label ? t('copied') : ''}
      </span>
    </Button>
  )
}
