import { useEffect, useRef, useState } from 'react'

import { useTranslation } from '~/i18n'
import { bytesOf, type Image, imageOf } from './contents'
import type { JsonObject } from './json'
import { Raw } from './raw'
import { Section } from './section'
import { safeLink } from './words'

/** What a result of another server holds beside its data: pictures, and the rest as it came. */
export function ContentsView({ blocks }: { blocks: JsonObject[] }) {
  const { t } = useTranslation('result')
  return (
    <Section label={t('contents')} value={blocks}>
      <ul className="grid min-w-0 gap-3">
        {blocks.map((block, index) => (
          <li key={index} className="min-w-0">
            <Content block={block} name={t('content', { number: index + 1 })} />
          </li>
        ))}
      </ul>
    </Section>
  )
}

function Content({ block, name }: { block: JsonObject; name: string }) {
  const image = imageOf(block)
  if (image) return <Drawn image={image} name={name} fallback={<Raw value={block} name={name} />} />
  const link =
    block.type === 'resource_link' && typeof block.uri === 'string' && safeLink(block.uri)
  if (!link) return <Raw value={block} name={name} />
  return (
    <a
      href={link}
      target="_blank"
      rel="noreferrer"
      className="break-all underline underline-offset-2"
    >
      {typeof block.name === 'string' && block.name !== '' ? `${block.name} (${link})` : link}
    </a>
  )
}

interface DrawnProps {
  image: Image
  name: string
  fallback: React.ReactNode
}

/** A picture, drawn from its bytes: the page loads pictures from its own server alone, and `data:` stays shut. */
function Drawn({ image: { data, type }, name, fallback }: DrawnProps) {
  const canvas = useRef<HTMLCanvasElement>(null)
  const [isBroken, setBroken] = useState(false)
  useEffect(() => {
    let isGone = false
    const draw = async () => {
      const bitmap = await createImageBitmap(bytesOf({ data, type }))
      const drawn = canvas.current
      if (drawn && !isGone) {
        drawn.width = bitmap.width
        drawn.height = bitmap.height
        drawn.getContext('2d')?.drawImage(bitmap, 0, 0)
      }
      bitmap.close()
    }
    setBroken(false)
    draw().catch(() => isGone || setBroken(true))
    return () => {
      isGone = true
    }
  }, [data, type])
  if (isBroken) return fallback
  return (
    <canvas
      ref={canvas}
      role="img"
      aria-label={name}
      width={1}
      height={1}
      className="block h-auto max-w-full rounded-md border border-line"
    />
  )
}
