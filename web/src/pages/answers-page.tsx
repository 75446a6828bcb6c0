import { useInfiniteQuery } from '@tanstack/react-query'
import { type RefObject, useMemo, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'

import { useMay } from '~/api/me'
import { askedOfPeople } from '~/features/answers/answer-queries'
import { AnswersList } from '~/features/answers/answers-list'
import { KEYS } from '~/features/answers/keys'
import { InboxTabs } from '~/features/approvals/inbox-tabs'
import { KeySheet } from '~/features/approvals/key-sheet'
import { Button } from '~/kit/button'
import { useKeys } from '~/kit/keys'
import { Empty, Fault, Loading } from '~/kit/states'

export default function AnswersPage() {
  const { t } = useTranslation('answers')
  if (useMay('tools.tenant.run')) return <Asked />
  return (
    <div className="grid gap-5">
      <h1 className="text-xl font-semibold">{t('title')}</h1>
      <Empty title={t('not_yours')} />
    </div>
  )
}

function Asked() {
  const { t } = useTranslation(['answers', 'approvals'])
  const list = useInfiniteQuery(askedOfPeople)
  const calls = useMemo(() => {
    const read = list.data?.pages.flatMap((page) => page.items) ?? []
    return [...new Map(read.map((call) => [call.id, call])).values()]
  }, [list.data])
  const box = useRef<HTMLUListElement>(null)
  const [sheet, setSheet] = useState(false)
  useListKeys(box, () => setSheet(true))
  const total = list.data?.pages[0]?.total
  return (
    <div className="grid gap-5">
      <div className="flex flex-wrap items-center justify-between gap-3">
        <div className="flex flex-wrap items-baseline gap-x-3">
          <h1 className="text-xl font-semibold">{t('title')}</h1>
          <p aria-live="polite" className="text-muted">
            {typeof total === 'number' && t('approvals:count', { count: total })}
          </p>
        </div>
        <KeySheet keys={KEYS} open={sheet} onOpen={setSheet} />
      </div>
      <InboxTabs of="answers" />
      {list.error && <Fault error={list.error} onRetry={() => void list.refetch()} />}
      {list.isPending ? (
        <Loading />
      ) : calls.length > 0 ? (
        <AnswersList calls={calls} box={box} />
      ) : (
        !list.error && (
          <Empty title={t('empty')}>
            <p>{t('empty_explained')}</p>
          </Empty>
        )
      )}
      {list.hasNextPage && (
        <Button disabled={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
          {t('approvals:load_more')}
        </Button>
      )}
    </div>
  )
}

/** Moving through the list is moving the focus, so that Enter and screen readers need no help. */
function useListKeys(box: RefObject<HTMLUListElement | null>, onSheet: () => void) {
  const move = (by: number) => {
    const all = [...(box.current?.querySelectorAll<HTMLElement>('[data-answer]') ?? [])]
    const place = all.findIndex((link) => link === document.activeElement)
    const next = all[place < 0 ? 0 : Math.min(all.length - 1, Math.max(0, place + by))]
    next?.focus()
    next?.scrollIntoView({ block: 'nearest' })
  }
  useKeys({ j: () => move(1), k: () => move(-1), '?': onSheet })
}
