import { ArrowDown, ArrowUp, Trash2 } from 'lucide-react'

import { useTranslation } from '~/i18n'
import { Button } from '~/kit/button'

interface Props {
  /** What moves, as its buttons are told apart: the name of a field, `step 2`. */
  name: string
  isFirst: boolean
  isLast: boolean
  onMove: (by: -1 | 1) => void
  /** Without it the thing stays. */
  onRemove?: () => void
  /** Whether what moves listens to Alt with an arrow as well. */
  hasKeys?: boolean
}

/** Up, down and away, for one of several things in an order. */
export function MoveButtons({ name, isFirst, isLast, onMove, onRemove, hasKeys }: Props) {
  const { t } = useTranslation('admin')
  return (
    <>
      <Button
        tone="quiet"
        size="icon"
        aria-label={t('move.up', { name })}
        aria-keyshortcuts={hasKeys ? 'Alt+ArrowUp' : undefined}
        disabled={isFirst}
        onClick={() => onMove(-1)}
      >
        <ArrowUp aria-hidden />
      </Button>
      <Button
        tone="quiet"
        size="icon"
        aria-label={t('move.down', { name })}
        aria-keyshortcuts={hasKeys ? 'Alt+ArrowDown' : undefined}
        disabled={isLast}
        onClick={() => onMove(1)}
      >
        <ArrowDown aria-hidden />
      </Button>
      {onRemove && (
        <Button tone="quiet" size="icon" aria-label={t('move.remove', { name })} onClick={onRemove}>
          <Trash2 aria-hidden />
        </Button>
      )}
    </>
  )
}
