import { useEffect, useRef, useState } from 'react'

import { useTranslation } from '~/i18n'

const HEIGHT_MAX = 160

/**
 * A picture that is inside of the value. It is drawn on a canvas, because our pages load pictures from this server only,
 * and neither from elsewhere nor from an address that holds the picture itself.
 */
export function PictureInside({ value, label }: { value: string; label: string }) {
  const { t } = useTranslation('form')
  const canvas = useRef<HTMLCanvasElement>(null)
  const [drawn, setDrawn] = useState<string>()
  useEffect(() => {
    let isGone = false
    void pictureOf(value).then((picture) => {
      const [box, brush] = [canvas.current, canvas.current?.getContext('2d')]
      if (isGone || !picture || !box || !brush) return
      const scale = Math.min(1, HEIGHT_MAX / picture.height)
      box.width = Math.max(1, Math.round(picture.width * scale))
      box.height = Math.max(1, Math.round(picture.height * scale))
      brush.drawImage(picture, 0, 0, box.width, box.height)
      setDrawn(value)
    })
    return () => {
      isGone = true
    }
  }, [value])
  return (
    <canvas
      ref={canvas}
      role="img"
      aria-label={t('file.picture', { label })}
      hidden={drawn !== value}
      className="max-h-40 max-w-full justify-self-start rounded-md border border-line"
    />
  )
}

/** The picture in an address of the form `data:image/png;base64,…`; nothing where a browser cannot read it. */
async function pictureOf(address: string): Promise<ImageBitmap | undefined> {
  const [, type, coded] = /^data:(image\/[\w.+-]+);base64,(.*)$/s.exec(address) ?? []
  if (!type || coded === undefined) return undefined
  try {
    const bytes = Uint8Array.from(atob(coded), (letter) => letter.charCodeAt(0))
    return await createImageBitmap(new Blob([bytes], { type }))
  } catch {
    return undefined
  }
}
