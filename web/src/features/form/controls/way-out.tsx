import { ExternalLink, Image, type LucideIcon, Mail, Phone } from 'lucide-react'

import { safeLink } from '~/features/result/words'
import { useTranslation } from '~/i18n'
import { type Json, text } from '../schema/json'
import { shown } from './props'

interface Props {
  schema: Json
  variant: string | undefined
  label: string
  value: unknown
}

type Way = { to: string; name: 'open' | 'picture' | 'mail' | 'call'; icon: LucideIcon }

/** The way to what a text names, where the field wants to be a link. */
export function WayOut({ schema, variant, label, value }: Props) {
  const { t } = useTranslation('form')
  if (variant !== 'link' && variant !== 'image') return null
  const way = wayOf(schema, variant, shown(value).trim())
  if (!way) return null
  const isPage = way.name === 'open' || way.name === 'picture'
  const place = isPage ? { target: '_blank', rel: 'noopener noreferrer nofollow' } : {}
  return (
    <a
      href={way.to}
      className="inline-flex max-w-full justify-self-start items-center gap-1.5 text-accent underline underline-offset-2"
      {...place}
    >
      <way.icon aria-hidden className="size-4 shrink-0" />
      <span className="min-w-0 break-words">{t(`way.${way.name}`, { label })}</span>
    </a>
  )
}

/** Where a text leads. Our pages load no pictures from elsewhere, so a picture is a way to it. */
export function wayOf(schema: Json, variant: string, value: string): Way | undefined {
  if (text(schema.format) === 'email') {
    const isAddress = /^[^\s@?&]+@[^\s@?&]+$/.test(value)
    return isAddress ? { to: `mailto:${value}`, name: 'mail', icon: Mail } : undefined
  }
  if (schema['x-toolwright-type'] === 'phone') {
    const digits = value.replace(/[^\d+]/g, '')
    return digits.length > 2 ? { to: `tel:${digits}`, name: 'call', icon: Phone } : undefined
  }
  const to = safeLink(value) ?? pageOf(schema, value)
  if (!to) return undefined
  return variant === 'image'
    ? { to, name: 'picture', icon: Image }
    : { to, name: 'open', icon: ExternalLink }
}

const PAGES: Record<string, string> = { tool: '/tools', run: '/runs' }

/** The page of something that is kept here. */
function pageOf(schema: Json, value: string): string | undefined {
  const page = PAGES[text(schema['x-entity-type']) ?? '']
  return page && value !== '' ? `${page}/${encodeURIComponent(value)}` : undefined
}
