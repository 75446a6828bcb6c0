import { CircleArrowDown, CircleArrowUp, Split } from 'lucide-react'

import { useTranslation } from '~/i18n'
import { cn } from '~/kit/cn'
import { idOf, useEditing } from '../context'
import { isBelow } from '../inside'
import { type Box, boxesOf, type Lane, lanesOf } from './picture'

// In pixels: the arrows beside the boxes are drawn by these.
const BOX = 56
const GAP = 24
const LANE = 14

/**
 * A composition as boxes and arrows. The boxes are a list, so that it reads the same without being seen; the arrows are
 * drawn beside it and between its entries, and told in words.
 */
export function CompositionPicture() {
  const { t } = useTranslation('kinds')
  const { definition } = useEditing()
  const boxes = boxesOf(definition.execution_spec)
  if (boxes.length < 3) return null
  const lanes = lanesOf(boxes)
  const side = lanes.length === 0 ? 0 : (Math.max(...lanes.map(({ lane }) => lane)) + 2) * LANE
  return (
    <figure className="grid min-w-0 gap-2">
      <figcaption id="picture-title" className="font-medium">
        {t('picture')}
      </figcaption>
      <div className="relative min-w-0 max-w-xl">
        <ol
          aria-labelledby="picture-title"
          className="grid min-w-0"
          style={{ paddingRight: side, rowGap: GAP }}
        >
          {boxes.map((box, index) => (
            <li key={box.step ?? box.is} className="relative min-w-0" style={{ height: BOX }}>
              {index > 0 && <Down isData={box.from.includes(index - 1)} />}
              <BoxView box={box} boxes={boxes} />
            </li>
          ))}
        </ol>
        <Lanes lanes={lanes} width={side} count={boxes.length} />
      </div>
      <p className="text-xs text-muted">{t('picture_hint')}</p>
    </figure>
  )
}

/** The arrow to the next box: whole where its values go there, dashed where it only comes next. */
function Down({ isData }: { isData: boolean }) {
  return (
    <svg
      aria-hidden
      width="12"
      height={GAP}
      viewBox={`0 0 12 ${GAP}`}
      className={cn('absolute left-6', isData ? 'text-accent' : 'text-line-strong')}
      style={{ top: -GAP }}
      fill="none"
      stroke="currentColor"
      strokeWidth="1.5"
    >
      <path d={`M6 0V${GAP - 2}`} strokeDasharray={isData ? undefined : '3 3'} />
      <path d={`M2 ${GAP - 7}L6 ${GAP - 2}L10 ${GAP - 7}`} />
    </svg>
  )
}

function Lanes({ lanes, width, count }: { lanes: Lane[]; width: number; count: number }) {
  const height = count * BOX + (count - 1) * GAP
  const middle = (place: number) => place * (BOX + GAP) + BOX / 2
  if (lanes.length === 0) return null
  return (
    <svg
      aria-hidden
      width={width}
      height={height}
      viewBox={`0 0 ${width} ${height}`}
      className="pointer-events-none absolute top-0 right-0 text-accent"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.5"
    >
      {lanes.map(({ from, to, lane }) => {
        const x = (lane + 1) * LANE
        // Those that leave and those that arrive at a box do not lie on one another.
        const [top, bottom] = [middle(from) + 8, middle(to) - 8]
        return (
          <g key={`${from}-${to}`}>
            <path
              d={`M0 ${top}H${x - 5}Q${x} ${top} ${x} ${top + 5}V${bottom - 5}Q${x} ${bottom} ${x - 5} ${bottom}H2`}
            />
            <path d={`M7 ${bottom - 4}L2 ${bottom}L7 ${bottom + 4}`} />
          </g>
        )
      })}
    </svg>
  )
}

function BoxView({ box, boxes }: { box: Box; boxes: Box[] }) {
  const { t } = useTranslation('kinds')
  const { faults } = useEditing()
  const nameOf = (place: number) => {
    const { is, step = 0, id } = boxes[place] as Box
    return is === 'step' ? id || t('step', { number: step + 1 }) : t(`picture_${is}`)
  }
  const told = box.from.length > 0 && t('picture_from', { names: box.from.map(nameOf).join(', ') })
  const look =
    'flex h-full w-full min-w-0 items-center gap-3 rounded-md border bg-ground px-3 text-left'
  if (box.is === 'input') {
    return (
      <div className={cn(look, 'border-line bg-raised')}>
        <CircleArrowDown aria-hidden className="size-5 shrink-0 text-muted" />
        {t('picture_input')}
      </div>
    )
  }
  const path = box.is === 'output' ? '/execution_spec/output' : `/execution_spec/steps/${box.step}`
  const isFaulty = faults.some((fault) => isBelow(fault.path, path))
  return (
    <button
      type="button"
      className={cn(look, 'border-line-strong hover:border-accent hover:bg-raised', {
        'border-dashed': box.when,
        'border-bad': isFaulty,
        'border-line bg-raised': box.is === 'output',
      })}
      onClick={() => {
        const target = document.getElementById(idOf(path))
        target?.scrollIntoView({ block: 'center' })
        target?.focus({ preventScroll: true })
      }}
    >
      {box.is === 'output' ? (
        <CircleArrowUp aria-hidden className="size-5 shrink-0 text-muted" />
      ) : (
        <span className="grid size-6 shrink-0 place-items-center rounded-full bg-accent-soft text-xs font-medium text-accent">
          {Number(box.step) + 1}
        </span>
      )}
      <span className="grid min-w-0 flex-1">
        <span className="flex min-w-0 items-baseline gap-2">
          <span className="shrink-0 font-medium">
            {box.is === 'output'
              ? t('picture_output')
              : box.id || t('step', { number: Number(box.step) + 1 })}
          </span>
          <code className="min-w-0 truncate text-xs text-muted">{box.tool}</code>
        </span>
        {(box.when || box.onError) && (
          <span className="flex min-w-0 items-center gap-1 text-xs text-muted">
            <Split aria-hidden className="size-3 shrink-0" />
            <span className="min-w-0 truncate">
              {[
                box.when && t('picture_when', { when: box.when }),
                box.onError &&
                  t('picture_fails', {
                    action: t(`on_error_${box.onError}`, { defaultValue: box.onError }),
                  }),
              ]
                .filter(Boolean)
                .join(' · ')}
            </span>
          </span>
        )}
        {told && <span className="sr-only"> {told}</span>}
        {isFaulty && <span className="sr-only"> {t('picture_faulty')}</span>}
      </span>
    </button>
  )
}
