import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'

import { useMay } from '~/api/me'
import { pendingAnswers, pendingApprovals } from '~/api/pending'
import { useTranslation } from '~/i18n'
import { Badge } from '~/kit/badge'

const look =
  '-mb-px flex items-center gap-2 border-b-2 border-transparent px-2.5 py-2 font-medium text-muted hover:text-text aria-[current=page]:border-accent aria-[current=page]:text-accent'

/** What waits for people, decisions and answers, and what was decided for a while. Whoever only answers sees no choice. */
export function InboxTabs({ of }: { of: 'approvals' | 'answers' | 'standing' }) {
  const { t } = useTranslation('answers')
  const decides = useMay('approvals.tenant.read')
  const answers = useMay('tools.tenant.run')
  const approvals = useQuery({ ...pendingApprovals, enabled: decides })
  const calls = useQuery({ ...pendingAnswers, enabled: answers })
  if (!decides) return null
  const count = (page?: { total?: number | null; items: unknown[] }) =>
    page ? (page.total ?? page.items.length) : 0
  return (
    <nav aria-label={t('inbox')} className="flex flex-wrap gap-x-1 border-b border-line">
      <Link
        to="/approvals"
        search={{}}
        // The other tab lies below this one, and would mark both.
        activeOptions={{ exact: true }}
        aria-current={of === 'approvals' ? 'page' : undefined}
        className={look}
      >
        {t('to_decide')}
        <Count of={count(approvals.data)} />
      </Link>
      {answers && (
        <Link
          to="/approvals/answers"
          aria-current={of === 'answers' ? 'page' : undefined}
          className={look}
        >
          {t('to_answer')}
          <Count of={count(calls.data)} />
        </Link>
      )}
      <Link
        to="/approvals/standing"
        search={{}}
        aria-current={of === 'standing' ? 'page' : undefined}
        className={look}
      >
        {t('standing')}
      </Link>
    </nav>
  )
}

function Count({ of }: { of: number }) {
  return of > 0 && <Badge tone="warn">{of}</Badge>
}
