import { createLucideIcon, type LucideIcon, Wrench } from 'lucide-react'
import { useEffect, useState } from 'react'
import letters from 'virtual:icons'

import { cn } from './cn'
import { SHIPPED_ICONS } from './shipped-icons'

/** A tool's icon by its stored name; a name that is none is a wrench. It says nothing that the tool's name does not. */
export function ToolIcon({
  name,
  className,
}: {
  name: string | null | undefined
  className?: string
}) {
  const look = cn('size-4 shrink-0', className)
  const Icon = useIcon(name ?? '')
  return Icon ? <Icon aria-hidden className={look} /> : <span aria-hidden className={look} />
}

/** The icon of a name; none as long as it is on its way. */
function useIcon(name: string): LucideIcon | undefined {
  const [found, setFound] = useState<{ name: string; icon: LucideIcon }>()
  const known = Object.hasOwn(SHIPPED_ICONS, name) ? SHIPPED_ICONS[name] : undefined
  const isRare = !known && /^[a-z][a-z\d]*(-[a-z\d]+)*$/.test(name)
  useEffect(() => {
    if (!isRare) return
    let isGone = false
    const show = (icon = Wrench) => {
      if (!isGone) setFound({ name, icon })
    }
    // Where it cannot be loaded a wrench does; nobody has to be told.
    iconOf(name).then(show, () => show())
    return () => {
      isGone = true
    }
  }, [name, isRare])
  if (!isRare) return known ?? Wrench
  return found?.name === name ? found.icon : undefined
}

/** An icon by any name that Lucide gives or gave it, such as `grid-2x2`. */
export async function iconOf(name: string): Promise<LucideIcon | undefined> {
  // One file has those that most tools have; the others are in a file for each letter.
  const { TOOL_ICONS } = await import('./tool-icons')
  if (Object.hasOwn(TOOL_ICONS, name)) return TOOL_ICONS[name]
  const known = await letters[name.charAt(0)]?.()
  const data = known && Object.hasOwn(known.default, name) ? known.default[name] : undefined
  return data && createLucideIcon(data)
}
