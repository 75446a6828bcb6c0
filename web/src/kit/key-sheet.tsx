import { Keyboard } from 'lucide-react'
import { useTranslation } from 'react-i18next'

import { Button } from './button'
import { Dialog } from './dialog'
import { useSingleKeys } from './keys'

/** The keys of a page, and the switch for those who do not want them. */
export function KeySheet({
  keys,
  open,
  onOpen,
}: {
  keys: readonly (readonly [key: string, name: string])[]
  open: boolean
  onOpen: (open: boolean) => void
}) {
  const { t } = useTranslation('approvals')
  const [on, setOn] = useSingleKeys()
  return (
    <>
      <Button tone="quiet" onClick={() => onOpen(true)}>
        <Keyboard aria-hidden />
        {t('keys.title')}
      </Button>
      <Dialog open={open} onClose={() => onOpen(false)} title={t('keys.title')}>
        <dl className="grid grid-cols-[auto_1fr] items-center gap-x-4 gap-y-2">
          {keys.map(([key, name]) => (
            <div key={key} className="contents">
              <dt>
                <kbd className="inline-block min-w-7 rounded border border-line bg-raised px-2 py-0.5 text-center font-mono text-xs">
                  {key}
                </kbd>
              </dt>
              <dd>{t(`keys.${name}`)}</dd>
            </div>
          ))}
        </dl>
        <label className="mt-5 flex cursor-pointer items-center gap-2 font-medium">
          <input
            type="checkbox"
            role="switch"
            className="size-4 accent-accent"
            checked={on}
            onChange={(event) => setOn(event.target.checked)}
          />
          {t('keys.on')}
        </label>
      </Dialog>
    </>
  )
}
