import { Link } from '@tanstack/react-router'
import { CircleAlert } from 'lucide-react'

import { useTranslation } from '~/i18n'
import { useServerWords } from '~/i18n/server-words'
import { cn } from '~/kit/cn'

/** The codes of runs that did not succeed and that can be explained in a sentence. */
const EXPLAINED = new Set([
  'BUDGET_EXCEEDED',
  'CANCELLED',
  'CIRCUIT_OPEN',
  'CREDENTIAL_MISSING',
  'DEPTH_EXCEEDED',
  'EGRESS_DENIED',
  'EXPIRED',
  'INTERNAL',
  'INTERRUPTED',
  'INVALID_PARAMS',
  'MODEL_NOT_CONFIGURED',
  'NOT_PERMITTED',
  'OUTPUT_INVALID',
  'SANDBOX_EXCEPTION',
  'SANDBOX_MEMORY',
  'SANDBOX_OUTPUT',
  'SUPERSEDED',
  'TIMEOUT',
  'TOOL_DISABLED',
  'TOOL_FAILED',
  'TOOL_HELD',
  'TOOL_PANICKED',
  'UPSTREAM_ERROR',
])

/** The codes under which a tool speaks for itself: its own words come first. */
const OWN_WORDS = new Set(['SANDBOX_EXCEPTION', 'TOOL_FAILED'])

interface Props {
  code?: string | null
  text?: string | null
  /** What a run that was cut off may have done. */
  effect?: string | null
  /** Somebody wanted it so. */
  wanted?: boolean
}

/** Why a run did not succeed: in our words, in those of the tool or the server, and where to read more. */
export function RunError({ code, text, effect, wanted = false }: Props) {
  const { t } = useTranslation('result')
  const words = useServerWords()
  const known = code && (EXPLAINED.has(code) ? t(`explained.${code}`) : words.code(code))
  const explained = known || t('failed')
  const [first, second] =
    text && code && OWN_WORDS.has(code) ? [text, explained] : [explained, text]
  return (
    <div
      className={cn(
        'grid gap-2 rounded-md border p-3',
        wanted ? 'border-line bg-raised' : 'border-bad bg-bad-soft text-bad',
      )}
    >
      <p className="flex items-start gap-2 font-medium">
        <CircleAlert aria-hidden className="mt-0.5 size-4 shrink-0" />
        <span className="min-w-0 break-words whitespace-pre-wrap">{first}</span>
      </p>
      {second && <p className="break-words whitespace-pre-wrap">{second}</p>}
      {effect === 'unknown' && <p>{t('effect_unknown')}</p>}
      {code && (
        <p className="text-xs">
          {t('code')} <code>{code}</code>
          {/^[A-Z_]+$/.test(code) && (
            <>
              {' · '}
              <Link to="/docs/$" params={{ _splat: `errors/${code}` }} className="underline">
                {t('about_code')}
              </Link>
            </>
          )}
        </p>
      )}
    </div>
  )
}
