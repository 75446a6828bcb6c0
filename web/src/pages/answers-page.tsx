import { useInfiniteQuery } from '@tanstack/react-query'
import { useRef } from 'react'

import { useMay } from '~/api/me'
import { askedOfPeople } from '~/features/answers/answer-queries'
import { AnswersList } from '~/features/answers/answers-list'
import { KEYS } from '~/features/answers/keys'
import { Inbox, NoInbox, useItems } from '~/features/approvals/inbox'
import { useTranslation } from '~/i18n'
import { useKeys } from '~/kit/keys'
import { moveFocus } from '~/kit/move-focus'
import { Empty } from '~/kit/states'

export default function AnswersPage() {
  const { t } = useTranslation('answers')
  if (useMay('tools.tenant.run')) return <Asked />
  return <NoInbox title={t('title')} why={t('not_yours')} />
}

function Asked() {
  const { t } = useTranslation('answers')
  const list = useInfiniteQuery(askedOfPeople)
  const calls = useItems(list.data)
  const box = useRef<HTMLUListElement>(null)
  const links = () => [...(box.current?.querySelectorAll<HTMLElement>('[data-answer]') ?? [])]
  useKeys({
    j: () => moveFocus(links(), 1),
    k: () => moveFocus(links(), -1),
  })
  return (
    <Inbox
      of="answers"
      title={t('title')}
      list={list}
      keys={KEYS}
      empty={
        <Empty title={t('empty')}>
          <p>{t('empty_explained')}</p>
        </Empty>
      }
    >
      <AnswersList calls={calls} box={box} />
    </Inbox>
  )
}
