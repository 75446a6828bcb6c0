import { Keyboard } from 'lucide-react'

import { useTranslation } from '~/i18n'
import { Button } from './button'
import { type Key, showSheet, usePageKeys } from './page-keys'

/** Tells the keys of a page, and offers the sheet that shows them. */
export function KeySheet({ keys }: { keys: readonly Key[] }) {
  const { t } = useTranslation()
  usePageKeys(keys)
  return (
    // Where there is little room there is seldom a keyboard; `?` works there, too.
    <Button tone="quiet" className="max-sm:hidden" onClick={() => showSheet(true)}>
      <Keyboard aria-hidden />
      {t('shortcuts')}
    </Button>
  )
}
