import { CircleAlert } from 'lucide-react'

import type { Fault } from '~/api/problem'
import { useTranslation } from '~/i18n'

/** How much is wrong, and what no field can show. */
export function Summary({ count, loose }: { count: number; loose: Fault[] }) {
  const { t } = useTranslation('form')
  return (
    <div role="status" aria-live="polite" className={count === 0 ? 'sr-only' : undefined}>
      {count > 0 && (
        <div className="grid gap-1 rounded-md border border-bad bg-bad-soft px-3 py-2 text-bad">
          <p className="flex items-center gap-2 font-medium">
            <CircleAlert aria-hidden className="size-4 shrink-0" />
            {t('summary', { count })}
          </p>
          {loose.length > 0 && (
            <ul className="list-disc pl-8 text-xs">
              {loose.map(({ path, message }) => (
                <li key={`${path} ${message}`} className="break-words">
                  {path ? `${path}: ${message}` : message}
                </li>
              ))}
            </ul>
          )}
        </div>
      )}
    </div>
  )
}
