import { Paperclip, X } from 'lucide-react'
import { useState } from 'react'

import { useLocale, useTranslation } from '~/i18n'
import { Button } from '~/kit/button'
import { Input } from '~/kit/field'
import { text } from '../schema/json'
import { variantOf } from './kind'
import { PictureInside } from './picture-inside'
import { aria, type ControlProps, shown } from './props'
import { WayOut } from './way-out'

/**
 * A file travels inside the input, as base64: four characters for three bytes. The server takes 4 MiB in all, and the
 * rest of the input needs some of it.
 */
const BYTES_MAX = Math.floor((((4 << 20) - (128 << 10)) * 3) / 4)

/** What can be chosen where a field wants to be one of these. */
const ACCEPTED: Record<string, string> = { image: 'image/*', video: 'video/*', audio: 'audio/*' }

/** An address, or a file that is put into the value itself. */
export function FileControl(props: ControlProps) {
  const { t } = useTranslation('form')
  const locale = useLocale()
  const { id, schema, look, label, value, onChange, onBlur, readOnly } = props
  const [name, setName] = useState<string>()
  const [fault, setFault] = useState<string>()
  const variant = variantOf(schema, look) ?? ''
  const kind = Object.hasOwn(ACCEPTED, variant) ? variant : undefined
  const accept =
    (look.upload?.accept.join(',') ?? text(schema['x-accept'])) || (kind && ACCEPTED[kind])
  const most = Math.min(look.upload?.maxBytes ?? BYTES_MAX, BYTES_MAX)
  const here = shown(value)
  const inside = here.startsWith('data:')
  const take = async (file: File | undefined) => {
    if (!file) return
    if (file.size > most) return setFault(t('file.too_large', { size: size(most, locale) }))
    if (!fits(file, accept)) return setFault(t('file.wrong_kind', { accept }))
    setFault(undefined)
    setName(file.name)
    onChange(await dataUrl(file))
  }
  return (
    <div className="grid gap-1.5">
      <div className="flex gap-2">
        <Input
          id={id}
          type="text"
          value={inside ? (name ?? t('file.inside')) : here}
          readOnly={readOnly || inside}
          placeholder={look.placeholder ?? 'https://'}
          onChange={(event) => onChange(event.target.value === '' ? undefined : event.target.value)}
          onBlur={onBlur}
          {...aria(props)}
        />
        {!readOnly && inside && (
          <Button
            size="icon"
            aria-label={t('file.remove', { label })}
            onClick={() => onChange(undefined)}
          >
            <X aria-hidden />
          </Button>
        )}
        {!readOnly && (
          <label className="inline-flex h-9 shrink-0 cursor-pointer items-center gap-2 rounded-md border border-line bg-ground px-3.5 font-medium focus-within:outline-2 focus-within:outline-offset-2 focus-within:outline-accent hover:bg-raised">
            <Paperclip aria-hidden className="size-4" />
            {t(kind ? `file.choose_${kind}` : 'file.choose')}
            <input
              type="file"
              className="sr-only"
              aria-label={t('file.choose_for', { label })}
              accept={accept}
              onChange={(event) => void take(event.target.files?.[0])}
            />
          </label>
        )}
      </div>
      {kind === 'image' && inside && <PictureInside value={here} label={label} />}
      {kind && !inside && (
        <WayOut
          schema={schema}
          variant={kind === 'image' ? 'image' : 'link'}
          label={label}
          value={value}
        />
      )}
      <p className="text-xs text-muted">{t('file.limit', { size: size(most, locale) })}</p>
      {fault && (
        <p role="alert" className="text-xs text-bad">
          {fault}
        </p>
      )}
    </div>
  )
}

/** Whether a file is of one of the kinds `image/*`, `application/pdf`, `.heic`. */
export function fits(file: { name: string; type: string }, accept: string | undefined): boolean {
  const kinds = (accept ?? '').split(',').filter((kind) => kind !== '')
  if (kinds.length === 0) return true
  return kinds.some((kind) => {
    if (kind.startsWith('.')) return file.name.toLowerCase().endsWith(kind.toLowerCase())
    if (kind === '*/*') return true
    return kind.endsWith('/*') ? file.type.startsWith(kind.slice(0, -1)) : file.type === kind
  })
}

function dataUrl(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader()
    reader.onload = () => resolve(String(reader.result))
    reader.onerror = () => reject(reader.error)
    reader.readAsDataURL(file)
  })
}

function size(bytes: number, language: string): string {
  const unit = bytes < 1 << 20 ? 'kilobyte' : 'megabyte'
  const amount = bytes / (unit === 'kilobyte' ? 1 << 10 : 1 << 20)
  return new Intl.NumberFormat(language, {
    style: 'unit',
    unit,
    maximumFractionDigits: 1,
    // Never more than passes.
    roundingMode: 'floor',
  }).format(amount)
}
