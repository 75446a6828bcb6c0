import { ChevronDown } from 'lucide-react'
import { useEffect, useState } from 'react'

import { useTranslation } from '~/i18n'
import { Button } from '~/kit/button'
import { Dialog } from '~/kit/dialog'
import { Field } from '~/kit/field'
import { lazyPart } from '~/kit/lazy-part'
import { Skeleton } from '~/kit/states'
import { iconOf, ToolIcon } from '~/kit/tool-icon'
import { TOOL_ICONS } from '~/kit/tool-icons'
import { usePart } from './context'
import { described } from './parts'

// Some two thousand names, for whoever looks for another icon.
const IconList = lazyPart(
  () => import('./icon-list'),
  (module) => module.default,
)

/** The icon of a tool, chosen from a list. A name that is no icon says so. */
export function IconPart() {
  const { t } = useTranslation('admin')
  const { id, value, set, fault, isFixed } = usePart('icon')
  const [isOpen, setOpen] = useState(false)
  const isUnknown = useIsUnknown(value)
  const told = fault ?? (isUnknown ? t('icon.unknown', { name: value }) : undefined)
  return (
    <>
      <Field id={id} label={t('editor.icon')} hint={t('editor.icon_hint')} fault={told}>
        <Button
          id={id}
          className="w-full justify-start border-line-strong font-normal"
          disabled={isFixed}
          aria-haspopup="dialog"
          aria-invalid={told !== undefined}
          aria-describedby={described(id, true, told)}
          onClick={() => setOpen(true)}
        >
          <ToolIcon name={value} />
          <span className="min-w-0 flex-1 truncate text-left">{value || t('icon.none')}</span>
          <ChevronDown aria-hidden className="text-muted" />
        </Button>
      </Field>
      <Dialog open={isOpen} onClose={() => setOpen(false)} title={t('icon.choose')}>
        <IconList
          fallback={<Skeleton className="h-80" />}
          chosen={value}
          onChoose={(name: string) => {
            set(name)
            setOpen(false)
          }}
        />
      </Dialog>
    </>
  )
}

/** Whether a name leads to no icon. One that cannot be loaded at the moment may be an icon. */
function useIsUnknown(name: string): boolean {
  const [unknown, setUnknown] = useState<string>()
  useEffect(() => {
    if (name === '' || Object.hasOwn(TOOL_ICONS, name)) return
    let isGone = false
    iconOf(name).then(
      (icon) => !isGone && setUnknown(icon ? undefined : name),
      () => undefined,
    )
    return () => {
      isGone = true
    }
  }, [name])
  return name !== '' && unknown === name
}
