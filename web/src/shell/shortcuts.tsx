import { CatchBoundary } from '@tanstack/react-router'
import { Search } from 'lucide-react'
import { lazy, Suspense, useEffect, useState } from 'react'

import { loadTexts, useTranslation } from '~/i18n'
import { Button } from '~/kit/button'
import { useKeys } from '~/kit/keys'
import { showSheet, useSheet } from '~/kit/page-keys'

// Dialogs are heavy, and come when somebody asks for them.
const KeySheetDialog = lazy(async () => {
  const [module] = await Promise.all([import('./key-sheet-dialog'), loadTexts(['keys'])])
  return module
})
const Palette = lazy(async () => {
  const [module] = await Promise.all([import('./palette'), loadTexts(['keys'])])
  return module
})

/** What works by keyboard on every page: the palette and the sheet of keys. */
export function Shortcuts() {
  const { t } = useTranslation()
  const { isOpen } = useSheet()
  const [isSearching, setSearching] = useState(false)
  useKeys({ '?': () => showSheet(true) })
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const isPalette = event.key.toLowerCase() === 'k' && (event.ctrlKey || event.metaKey)
      if (!isPalette || event.altKey || event.shiftKey) return
      event.preventDefault()
      setSearching(true)
    }
    addEventListener('keydown', press)
    return () => removeEventListener('keydown', press)
  }, [])
  return (
    <>
      <Button
        tone="quiet"
        aria-keyshortcuts="Control+K Meta+K"
        className="px-2"
        onClick={() => setSearching(true)}
      >
        <Search aria-hidden />
        <span className="max-xl:sr-only">{t('nav.go_to')}</span>
      </Button>
      <CatchBoundary getResetKey={() => ''} errorComponent={() => null}>
        <Suspense>
          {isSearching && <Palette onClose={() => setSearching(false)} />}
          {isOpen && <KeySheetDialog />}
        </Suspense>
      </CatchBoundary>
    </>
  )
}
